"""What holds a query's processes to reading: Landlock and seccomp on the one thread that spawns them.

The restrictions belong to a thread and to what it spawns, so each query has a thread of its own that gives up its
rights, spawns, and ends; the rest of this process keeps every right.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from sightline.search.errors import SandboxFailed
from sightline.threads import start_thread

T = TypeVar("T")


class Backing(NamedTuple):
    """What the kernel does for queries on this machine.

    Attributes:
        landlock: its Landlock ABI, 0 where there is none.
        seccomp: whether sockets are taken away.
        network: ``landlock+seccomp``, ``seccomp``, ``landlock`` (TCP only) or ``none``.
        text: all of it in one line.
    """

    landlock: int
    seccomp: bool
    network: str
    text: str


NO_BACKING = Backing(
    0, False, "none", "queries: no kernel backing; the option tables and the safe modes of sed and gawk hold them"
)
"""Nothing from the kernel: what macOS has."""


@lru_cache(maxsize=1)
def describe() -> Backing:
    """What holds queries here. Asks the kernel, once; no setting and no variable changes the answer."""
    from sightline.search import landlock, seccomp

    abi, filtered = landlock.abi(), seccomp.available()
    if not abi and not filtered:
        return NO_BACKING
    network = "+".join(name for name, has in (("landlock", abi >= 4), ("seccomp", filtered)) if has) or "none"
    held = (
        f"Landlock ABI {abi} holds reads and writes" if abi else "no Landlock: the option tables hold reads and writes"
    )
    sockets = {"landlock": "Landlock takes TCP away", "none": "nothing takes sockets away"}
    return Backing(abi, filtered, network, f"queries: {held}, {sockets.get(network, 'seccomp takes sockets away')}")


def confined(action: Callable[[], T], reads: Iterable[str], executes: Iterable[str], backing: Backing) -> T:
    """Do something on a thread that may spawn only what reads ``reads`` and executes ``executes``.

    Args:
        action: what spawns; what it returns or raises is passed on.
        reads: files that may be read, and folders with all that is in them.
        executes: files that may be executed.
        backing: what to use of the kernel's; with NO_BACKING the action is simply done.

    Raises:
        OutOfProcesses: there is no thread for it.
        SandboxFailed: the kernel has what the backing says and did not grant it; the action was not begun.
    """
    if not backing.landlock and not backing.seccomp:
        return action()
    import threading

    done: list[T] = []
    failed: list[BaseException] = []
    reads, executes = tuple(reads), tuple(executes)

    def work() -> None:
        try:
            try:
                _give_up_rights(reads, executes, backing)
            except OSError as error:
                raise SandboxFailed(
                    f"the query was not run: {error.strerror}", "`sightline doctor` tells what holds queries here"
                ) from error
            done.append(action())
        except BaseException as error:  # handed over to the thread that asked
            failed.append(error)

    thread = threading.Thread(target=work, name="sightline-query", daemon=True)
    start_thread(thread)
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _give_up_rights(reads: tuple[str, ...], executes: tuple[str, ...], backing: Backing) -> None:
    import os

    from sightline.search import landlock, seccomp

    rules = landlock.ruleset(reads, executes) if backing.landlock else -1
    try:
        landlock.no_new_privileges()
        if rules >= 0:
            landlock.restrict_thread(rules)
        if backing.seccomp:
            seccomp.restrict_thread()
    finally:
        if rules >= 0:
            os.close(rules)
