"""Captures that outlive who asked for them: a process of their own runs the command and writes its buffer.

Run as a module it is that process: its request comes as JSON on standard input, its buffer's name goes to standard
output.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

from sightline.capture.child import not_started
from sightline.capture.command import CommandCapture
from sightline.config import FleetSettings, Settings
from sightline.errors import CommandNotStarted, StoreFailed
from sightline.records import known_fields
from sightline.store import Store


def start_in_background(
    store: Store,
    argv: list[str],
    *,
    command: str,
    cwd: str,
    session: str,
    label: str = "",
    timeout: float | None = None,
) -> str:
    """Start a capture that goes on by itself; its buffer's name.

    Args:
        store: where it is kept.
        argv: program and arguments.
        command: what the buffer is called.
        cwd: working directory.
        session: who captures.
        label: a name for the buffer.
        timeout: seconds after which the command is ended, None for never.

    Raises:
        CommandNotStarted: there is no such program.
        StoreFailed: the store could not take it.
    """
    request = {
        "root": store.root,
        "settings": store.settings._asdict(),
        "argv": argv,
        "command": command,
        "cwd": cwd,
        "session": session,
        "label": label,
        "timeout": timeout,
    }
    words = [sys.executable, "-P", "-m", "sightline.capture.background"]
    try:
        worker = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise not_started(words[0], None, error) from error
    assert worker.stdin and worker.stdout
    with worker.stdin as stdin, worker.stdout as stdout:
        stdin.write(json.dumps(request).encode())
        stdin.close()
        line = stdout.readline()
        worker.wait()  # it has left the work to a child of its own, which is nobody's to wait for
    answer: dict[str, Any] = json.loads(line) if line else {"failed": "the capturing process ended before it began"}
    if "not_started" in answer:
        raise CommandNotStarted(*answer["not_started"])
    if "failed" in answer:
        raise StoreFailed(answer["failed"], answer.get("hint", "nothing was run"))
    return str(answer["name"])


def _work() -> None:
    request = json.loads(sys.stdin.buffer.read())
    if os.fork():
        os._exit(0)  # so that whoever asked, and may live long, need not wait for the end of it
    settings = request["settings"]
    settings["confirm"] = settings["confirm_not"] = ()  # whoever asked has confirmed
    settings["capture_off"] = tuple(settings["capture_off"])
    settings["redact_patterns"] = tuple(settings["redact_patterns"])
    settings["keys"] = settings["ship_off"] = ()  # they are the inspector's, and the shipper's
    settings["fleet"] = FleetSettings(*settings.get("fleet", ())[: len(FleetSettings._fields)])
    settings = known_fields(Settings, settings)  # whoever asked may be older, or newer, than what it has started
    with Store(request["root"], Settings(**settings)) as store:
        capture = CommandCapture(
            store,
            request["argv"],
            command=request["command"],
            cwd=request["cwd"],
            session=request["session"],
            label=request["label"],
            timeout=request["timeout"],
            started=lambda name: _answer({"name": name}),
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda received, _: capture.stop(received))
        if capture.failure is not None:
            _answer({"failed": capture.failure.message})
            return
        try:
            captured = capture.run()
        except CommandNotStarted as error:
            _answer({"not_started": [error.message, error.hint, error.exit_code]})
            return
        if captured.unkept is not None:
            message = captured.unkept.error.message if captured.unkept.error else "nothing is kept"
            _answer({"failed": message, "hint": "the command ran, but its output is lost"})


def _answer(answer: dict[str, Any]) -> None:
    """Once: whoever asked reads one line, and then the process stands alone."""
    if sys.stdout.closed:
        return
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    _work()
