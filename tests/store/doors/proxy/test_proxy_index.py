"""Lists follow the log of what passes, and have all of it in the end."""

import threading
from pathlib import Path
from typing import Any

import pytest

from sightline.doors.proxy import recorder
from sightline.doors.proxy.calls import CallLedger, ProxiedCall
from sightline.doors.proxy.recorder import CallRecorder
from sightline.doors.tools.protocol import Context
from sightline.doors.tools.service import Service
from sightline.doors.tools.tools import Options
from sightline.log.log_index import list_views
from sightline.log.views import index_view
from sightline.store import Store


def test_what_is_logged_while_the_index_follows_is_in_it_after_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_HOME", str(tmp_path / "store"))
    warnings: list[Exception] = []
    service = Service(Options(session="mine"))
    keeper = CallRecorder(service, CallLedger(), min_bytes=None, warn=warnings.append)
    ended, begun = threading.Thread(target=keeper.finish), threading.Event()
    call = ProxiedCall("small", {}, {}, Context("2025-11-25"))

    def indexing(store: Store, appended: Any) -> None:
        if appended.place.number == 1:  # the thread is at it: now the last one comes, and then the end
            keeper.passed(call, "the last")
            ended.start()
            ended.join(0.1)  # it cannot end before this returns
            begun.set()
        index_view(store, appended)

    monkeypatch.setattr(recorder, "index_view", indexing)
    keeper.passed(call, "the first")
    assert begun.wait(30)
    ended.join()
    with Store(str(tmp_path / "store")) as store:
        assert [one.view.number for one in list_views(store, session="mine")] == [2, 1]
    assert not warnings
    service.handlers().store.close()  # a server's process ends with it open
