"""What a session is about: the first words of its first prompt, kept as messages are."""

from pathlib import Path

import pytest

from sightline.base.records import Session
from sightline.log.retention import remove_session
from sightline.log.session_events import SUBJECT_CHARACTERS, SessionSubject, append_events, subject_of
from sightline.log.session_list import find_session, list_sessions, rename_session
from sightline.log.sessions import session_title
from sightline.store import Store

AGENT = Session(
    "claude-code-7f3a1b2c-9d00-4000-8000-0123456789ab",
    "claude-code",
    "7f3a1b2c-9d00-4000-8000-0123456789ab",
    "",
    "/home/ada/shop",
    1.0,
)


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("Fix the parser\n\nIt fails on tabs.", "Fix the parser"),
        ("\n  # Fix *it*  now \n", "Fix *it* now"),
        ("<system-reminder>\nrules\n</system-reminder>\nWhy is CI red?", "Why is CI red?"),
        ("<environment_context>\n  <cwd>/p</cwd>\n</environment_context>", ""),
        ("# AGENTS.md instructions for /p\n\nBe kind.", ""),
        ("<command-name>/review</command-name>\n<command-args>the diff</command-args>", "/review the diff"),
        ("<command-name>/clear</command-name>", ""),
        ("<command-name>/model</command-name>\n<command-args>opus</command-args>", ""),
        ("---\n***\n", ""),
        ("", ""),
        ("a\x1b[31m\u202eb", "a [31m b"),
    ],
)
def test_a_prompt_is_told_by_the_first_of_its_words(prompt: str, subject: str) -> None:
    assert subject_of(prompt) == subject


def test_a_long_prompt_is_one_short_line() -> None:
    subject = subject_of("word " * 1000)
    assert len(subject) == SUBJECT_CHARACTERS and subject.endswith("…")


def asked(store: Store, text: str) -> None:
    append_events(store.root, AGENT, [SessionSubject(2.0, text)])


def test_a_session_is_called_by_what_it_was_first_asked(tmp_path: Path) -> None:
    with Store(str(tmp_path)) as store:
        asked(store, "Fix the parser")
        assert [one.name for one in list_sessions(store)] == ["Fix the parser"]
        assert find_session(store, "Fix the").session.name == AGENT.name


def test_what_a_person_calls_it_stays(tmp_path: Path) -> None:
    with Store(str(tmp_path)) as store:
        asked(store, "Fix the parser")
        (facts,) = list_sessions(store)
        rename_session(store, facts.session, "release 2.1")
        asked(store, "Something else")
        assert [one.name for one in list_sessions(store)] == ["release 2.1"]


def test_removing_a_session_takes_what_it_was_asked_along(tmp_path: Path) -> None:
    with Store(str(tmp_path)) as store:
        asked(store, "Fix the parser")
        (facts,) = list_sessions(store)
        remove_session(store, facts.session)
        assert [one.session.title for one in list_sessions(store)] == [""]
        assert "parser" not in Path(store.layout.audit_file(AGENT.name)).read_text()
    Path(store.layout.index).unlink()
    with Store(str(tmp_path)) as store:
        assert [one.session.title for one in list_sessions(store)] == [""]


def test_a_session_that_was_asked_nothing_is_called_by_folder_and_harness() -> None:
    assert session_title(AGENT) == "shop claude-code 7f3a1b"
    assert session_title(AGENT._replace(name=AGENT.name + "-helper7")) == "shop claude-code 7f3a1b/elper7"
    assert session_title(AGENT._replace(name="shell-1", harness="shell", harness_id="")) == "shell-1"
    assert session_title(AGENT._replace(name="codex-11", harness_id="11")) == "codex-11"
    assert session_title(AGENT._replace(title="mine")) == "mine"
