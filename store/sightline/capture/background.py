"""Captures that outlive their caller: a separate process runs the command and writes its buffer.

Run as a module, this is that process: it reads its request as JSON from standard input, and writes the buffer's name to
standard output.
"""

import os
import signal
import subprocess
import sys

from sightline.base.errors import CommandNotStarted, StoreFailed
from sightline.base.records import known_fields
from sightline.capture.child import not_started
from sightline.capture.command import CommandCapture
from sightline.disk.stand_ins import StandIns
from sightline.light.json_text import dumps, loads
from sightline.light.library import suppress
from sightline.light.typing_names import Any
from sightline.settings.config import FleetSettings, Settings
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
    stand_ins: StandIns | None = None,
) -> str:
    """Start such a capture, and return its buffer's name.

    Args:
        store: the store that keeps it.
        argv: the program and its arguments.
        command: the command for the record.
        cwd: working directory.
        session: the session that captures.
        label: a name for the buffer.
        timeout: seconds after which the command is ended; None for never.
        stand_ins: files that the command gets in place of refs, which the other process releases.

    Raises:
        CommandNotStarted: there is no such program.
        StoreFailed: the store cannot keep it.
    """
    store.access.refuse_anothers()
    request = {
        "root": store.root,
        "settings": store.settings._asdict(),
        "argv": argv,
        "command": command,
        "cwd": cwd,
        "session": session,
        "label": label,
        "timeout": timeout,
        "stand_ins": [stand_ins.folder, stand_ins.use, stand_ins.fd] if stand_ins else None,
    }
    words = [sys.executable, "-P", "-m", "sightline.capture.background"]
    try:
        worker = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(stand_ins.fd,) if stand_ins else (),
        )
    except OSError as error:
        raise not_started(words[0], None, error) from error
    assert worker.stdin and worker.stdout
    with worker.stdout as stdout:
        with suppress(BrokenPipeError), worker.stdin as stdin:  # it may have ended already, as its answer then tells
            stdin.write(dumps(request).encode())
        line = stdout.readline()
        worker.wait()  # it has started a child for the work, which nobody has to wait for
    answer: dict[str, Any] = loads(line) if line else {"failed": "the capturing process ended before it began"}
    if "not_started" in answer:
        raise CommandNotStarted(*answer["not_started"])
    if "failed" in answer:
        raise StoreFailed(answer["failed"], answer.get("hint", "nothing was run"))
    if stand_ins:
        stand_ins.hand_over()
    return str(answer["name"])


def run_handed_over() -> None:
    """Run the command that standard input describes, in a child: this is the whole work of the process."""
    request = loads(sys.stdin.buffer.read())
    if os.fork():
        os._exit(0)  # the caller, which may live long, need not wait for it
    settings = request["settings"]
    settings["confirm"] = settings["confirm_not"] = ()  # the caller has confirmed already
    settings["capture_off"] = tuple(settings["capture_off"])
    settings["redact_patterns"] = tuple(settings["redact_patterns"])
    settings["keys"] = settings["ship_off"] = settings["trusted_stores"] = ()  # only others use these
    settings["fleet"] = FleetSettings(*settings.get("fleet", ())[: len(FleetSettings._fields)])
    settings = known_fields(Settings, settings)  # the caller may be another version
    with Store(request["root"], Settings(**settings)) as store:
        capture = CommandCapture(
            store,
            request["argv"],
            command=request["command"],
            cwd=request["cwd"],
            session=request["session"],
            label=request["label"],
            timeout=request["timeout"],
            stand_ins=StandIns(*handed) if (handed := request.get("stand_ins")) else None,
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
    """Write the answer once: the caller reads one line, and then this process is on its own."""
    if sys.stdout.closed:
        return
    sys.stdout.write(dumps(answer) + "\n")
    sys.stdout.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


if __name__ == "__main__":
    run_handed_over()
