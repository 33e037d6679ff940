"""The threads of the MCP server: used again, never waited for; and what a client finds after it has a reply."""

import threading
from pathlib import Path

from sightline import Store
from sightline.base.profile import DEFAULT
from sightline.base.records import Session
from sightline.doors.tools.handlers import SentReplies
from sightline.doors.tools.worker_threads import WorkerThreads
from sightline.log.views import Shows, Traced
from sightline.verbs.asker import Asker
from sightline.verbs.next_call import TOOLS, calls_in
from sightline.verbs.reply import Reply


def test_work_begins_at_once_however_many_threads_are_busy() -> None:
    threads, all_at_work = WorkerThreads(), threading.Barrier(11)
    for _ in range(10):
        threads.start(all_at_work.wait)
    all_at_work.wait(timeout=30)


def test_a_thread_that_has_nothing_to_do_is_used_again() -> None:
    threads, done = WorkerThreads(), threading.Semaphore(0)
    used: set[int] = set()

    def work() -> None:
        used.add(threading.get_ident())
        done.release()

    for _ in range(200):
        threads.start(work)
        assert done.acquire(timeout=30)
    assert len(used) < 20, "now and then the last one has not come back yet"


def test_what_follows_a_reply_finds_it_in_the_index(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        asking = Asker(store, Session("s", "", "", "", "", 0.0), calls_in(TOOLS), DEFAULT)
        replies, sent, waits, settled = SentReplies(), threading.Event(), threading.Event(), list[str]()

        def find_shown() -> Traced:
            assert waits.wait(30)
            settled.append("all of it")
            return Traced()

        reply = Reply({}, (), Shows("query", {}), find_shown=find_shown)
        thread = threading.Thread(
            target=replies.deliver, args=(asking, reply, lambda made: made.body, lambda _: sent.set())
        )
        thread.start()
        assert sent.wait(30)
        waits.set()
        replies.settle()
        assert settled == ["all of it"]
        thread.join()
