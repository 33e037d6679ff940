"""The syntax of what is on the screen: which one an output has, and where its parts stand."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.base.records import Buffer, StreamInfo
from sightline.store import Store
from sightline_tui.common.syntax import LanguageSyntax, Log, syntax_of
from tests.tui.tui_kit import NOW, add, opened, press, rest, run, until, viewer

_BUFFER = Buffer("cmd_a1b2c3", "cmd", "sealed", "", "/", "s", NOW, NOW, NOW, 0, 0, False, "", False, "", "", "", {})


def language(command: str = "make", sample: str = "", kind: str = "cmd", stream: str = "") -> str:
    syntax = syntax_of(_BUFFER._replace(command=command, kind=kind), stream, sample)
    return syntax._lexer.name if isinstance(syntax, LanguageSyntax) else "log"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("cat src/parser.py", "Python"),
        ("head -n 20 Cargo.toml", "TOML"),
        ("sed -n 1,80p src/lib.rs", "Rust"),
        ("git diff HEAD~1", "Diff"),
        ("git -C /x log --stat -p", "Diff"),
        ("diff -u a b", "Diff"),
        ("cat a.py b.rs", "log"),
        ("cat a.py | wc -l", "log"),
        ("cat 'open", "log"),
        ("pytest -q", "log"),
        ("cat", "log"),
    ],
)
def test_a_command_tells_the_syntax_of_what_it_shows(command: str, name: str) -> None:
    assert language(command) == name


@pytest.mark.parametrize(
    ("sample", "name"),
    [
        ('[\n {"id": 1}', "JSON"),
        ("{}", "JSON"),
        ("[2026-11-21 10:00:00] INFO", "log"),
        ("[worker] started", "log"),
        ("diff --git a/x b/x\n", "Diff"),
        ("--- a/x\n+++ b/x\n", "Diff"),
        ("<?xml version='1.0'?>", "XML"),
        ("<!DOCTYPE html>", "HTML"),
        ("#!/usr/bin/env python3\n", "Python"),
        ("#!/bin/sh\n", "Bash"),
        ("#!/opt/what\n", "log"),
        ("", "log"),
    ],
)
def test_else_the_content_does(sample: str, name: str) -> None:
    assert language(sample=sample) == name


def test_a_file_and_a_result_are_known_by_what_they_are() -> None:
    assert language("/home/ada/x.py", kind="file") == "Python"
    assert language("/home/ada/unknown", "{}", kind="file") == "JSON"
    result = _BUFFER._replace(kind="tool", streams={"part.0": StreamInfo(3, 1, "", "application/json; pretty=3-00")})
    assert isinstance(syntax_of(result, "", ""), LanguageSyntax)


def parts(text: str) -> dict[str, str]:
    return {part: text[start:end] for start, end, part in Log().spans([text])[0]}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("2026-11-21T10:00:00.123Z ERROR boom", {"time": "2026-11-21T10:00:00.123Z ", "error": "ERROR"}),
        ("10:42:01 WARN  slow", {"time": "10:42:01 ", "warning": "WARN"}),
        ("src/x.py:12: error: bad", {"name": "src/x.py:12", "error": "error"}),
        ("0 errors, 0 warnings", {}),
        ("ValueError: bad", {"error": "ValueError"}),
        ("Traceback (most recent call last):", {"heading": "Traceback (most recent call last):"}),
        ('  File "x.py", line 3, in f', {"string": '"x.py"'}),
        ("test_a PASSED", {"added": "PASSED"}),
        ("the terror of errorless information", {}),
    ],
)
def test_what_logs_have_in_common(line: str, found: dict[str, str]) -> None:
    assert parts(line) == found


@given(st.lists(st.text(max_size=200), max_size=40), st.sampled_from(["python", "json", "diff", "bash", "html"]))
def test_spans_are_in_order_and_within_their_lines(texts: list[str], name: str) -> None:
    from pygments.lexers import get_lexer_by_name

    texts = [text.replace("\n", "") for text in texts]
    for syntax in (LanguageSyntax(get_lexer_by_name(name)), Log()):
        found = syntax.spans(texts)
        assert len(found) == len(texts)
        for text, spans in zip(texts, found, strict=True):
            edges = [edge for start, end, _ in spans for edge in (start, end)]
            assert edges == sorted(edges)
            assert not edges or edges[-1] <= len(text)


def test_a_syntax_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(100))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    from pygments.lexers import get_lexer_by_name

    syntax = LanguageSyntax(get_lexer_by_name("python"))
    assert syntax.spans(["def f(): pass"])[0]
    assert not syntax.spans(["def f(): pass"])[0]


def test_it_is_shown_once_it_is_known_and_not_where_a_line_has_colours_of_its_own(store: Store) -> None:
    add(store, "cmd_00000a", "cat x.py", b"def f(): pass\n\x1b[31mdef\x1b[0m g(): pass\n")

    async def body() -> None:
        async with opened(store) as pilot:
            shown = viewer(pilot)
            await until(pilot, lambda: shown.opened.syntax is not None)
            await rest(pilot)

            def style(number: int) -> object:
                return next(iter(shown.drawn(number).strip)).style

            keyword = shown.own_style + shown.part_style("keyword")
            assert style(1) == keyword != style(2)
            before = style(1)
            await press(pilot, "enter", "C", "down", "enter")
            assert style(1) != before  # the theme's
            await press(pilot, "r")
            assert style(1) == shown.own_style

    run(body)


@pytest.mark.parametrize(
    "line", ["[2238] compiling a.c", "[ 40%] Linking", "[    0.000000] Linux", "[1/3] cc", "[12]: a"]
)
def test_a_number_in_brackets_before_text_begins_a_log(store: Store, line: str) -> None:
    assert isinstance(syntax_of(add(store, "cmd_00000a", "make"), "", line), Log)


@pytest.mark.parametrize("text", ["[1, 2]", "[1]\n", "[\n  1,\n  2\n]", "[0.5,1]"])
def test_a_list_of_numbers_is_json(store: Store, text: str) -> None:
    assert isinstance(syntax_of(add(store, "cmd_00000a", "make"), "", text), LanguageSyntax)
