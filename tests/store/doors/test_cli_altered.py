"""Outputs whose stored bytes were changed after their capture, at every door that names one."""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline.audit.finding_kinds import ALTERED, KINDS

TOLD = "out was changed after its capture: 18,894 B instead of 18,893 B"


@pytest.fixture
def altered(cli: Any) -> str:
    """The ref of an output whose seventh line is another one now; its capture was shown to an agent."""
    cli("run", "-c", "seq 1 4000")
    ref: str = cli.last()
    path = Path(cli("path", ref).out.strip())
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data.replace(b"\n7\n", b"\n7!\n", 1))
    path.chmod(0o400)
    return ref


@pytest.mark.parametrize("change", ["sed -i s/1/X/ @last", 'printf X | dd of="$(sightline path @last)" conv=notrunc'])
def test_a_fresh_capture_shows_what_its_command_wrote(cli: Any, change: str) -> None:
    cli("run", "-c", "seq 1 4000")
    cli.shell(f"sightline run -c '{change}'")
    cli.shell(f"chmod u+w {cli('path', '@last').out}; {change}; chmod u-w {cli('path', '@last').out}")
    cli("run", "-c", "seq 1 4000")
    assert cli("query", "head -n 3 @last").out == "1\n2\n3\n"


def test_lists_look_at_nothing_and_say_what_is_known(cli: Any, altered: str) -> None:
    for ran in (cli("list"), cli("views", altered)):
        assert "altered" not in ran.out
    cli("show", altered)
    assert f"{altered}  ok altered  4,000 lines" in cli("list").out
    assert [one["altered"] for one in cli("list", "--json").data] == [TOLD]
    assert cli("list", "--match", "is:altered").out.count("\n") == 1
    assert "  altered  " in cli("views", altered).out
    assert {ref for view in cli("views", "--json", altered).data for ref in view["altered"]} == {altered}
    assert "  altered  " in cli("timeline").out


@pytest.mark.parametrize(
    "words",
    [
        ("show", "{}"),
        ("show", "{}", "--lines", "7-8"),
        ("show", "{}", "--offset", "3"),
        ("show", "{}", "--search", "7!"),
        ("show", "{}", "--verbosity", "full"),
        ("query", "grep -c . {}"),
        ("run", "-c", "head -n 1 {}"),
        ("grep", "7!"),
        ("diff", "{}", "{}"),
        ("coverage", "{}"),
    ],
)
def test_what_shows_it_says_so(cli: Any, altered: str, words: tuple[str, ...]) -> None:
    ran = cli(*(word.format(altered) for word in words))
    assert TOLD in ran.out
    assert TOLD in cli(*(word.format(altered) for word in words), "--json").out


@pytest.mark.parametrize("words", [("show", "{}"), ("show", "{}.all"), ("path", "{}"), ("query", "wc -l {}")])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_list_knows_that_a_file_is_lost_once_it_was_asked_for(
    cli: Any, words: tuple[str, ...], is_link: bool
) -> None:
    cli("run", "-c", "seq 1 4000; echo e >&2")
    ref = cli.last()
    path = Path(cli("path", ref).out.strip())
    path.unlink()
    if is_link:
        path.symlink_to("/etc/hostname")
    assert cli(*(word.format(ref) for word in words)).code
    lost = "out is no longer a file" if is_link else "out is missing"
    assert [one["altered"] for one in cli("list", "--json").data] == [lost]


@pytest.mark.parametrize("lost", ["out is missing", "out is no longer a file"])
def test_the_audit_says_that_an_output_whose_file_is_lost_is_altered(cli: Any, lost: str) -> None:
    cli("run", "-c", "seq 1 4000")
    ref, path = cli.last(), Path(cli("path", "@last").out.strip())
    path.unlink()
    if "file" in lost:
        os.mkfifo(path)
    found = cli("audit", "--json").data
    assert [(one["kind"], one["ref"], one["text"]) for one in found["findings"]] == [(ALTERED, ref, lost)]
    assert not found["unread"]
    assert "1 altered" in cli("brief").out


def test_lines_that_an_altered_output_lacks_are_said_to_be_gone_by_that(cli: Any, altered: str) -> None:
    path = Path(cli("path", altered).out.strip())
    path.chmod(0o600)
    path.write_bytes(b"")
    for words in (("--lines", "7-8"), ("--offset", "12")):
        assert "out was changed after its capture: 0 B instead of 18,893 B" in cli("show", altered, *words).err


def test_an_altered_output_is_never_given_as_whole(cli: Any) -> None:
    """What is short comes without a head if it is whole."""
    cli("run", "-c", "echo short")
    path = Path(cli("path", "@last").out.strip())
    path.unlink()
    path.write_text("shert\n")
    head, body = cli("show", "@last").out.split("\n", 1)
    assert 'altered="out was changed after its capture"' in head
    assert body == "shert\n"


def test_the_path_is_printed_with_a_warning_beside_it(cli: Any, altered: str) -> None:
    ran = cli("path", altered)
    assert ran.out.endswith("/out\n")
    assert f"{altered} is altered: {TOLD}" in ran.err
    assert cli("path", "--json", altered).data["altered"] == TOLD


def test_the_audit_finds_it_without_anybody_having_opened_it(cli: Any, altered: str) -> None:
    assert f"altered-output  {altered}  {TOLD}" in cli("audit").out
    for kinds, code in ((ALTERED, 1), ("overlooked-failure", 1), ("cut-failure", 1), ("broken-log", 0)):
        ran = cli("audit", "--json", "--fail-on", kinds)
        assert (ran.code, ran.data["counts"]) == (code, {**dict.fromkeys(KINDS, 0), ALTERED: 1})


def test_no_brief_or_report_is_green_over_an_altered_output(cli: Any, altered: str) -> None:
    brief = cli("brief").out
    assert "✓" not in brief
    assert "1 output changed after the capture" in brief
    for form in ("md", "html", "json"):
        report = cli("report", "--format", form)
        assert TOLD in report.out, form


def test_what_was_shown_before_stays_and_what_is_shown_since_is_no_line_of_it(cli: Any, altered: str) -> None:
    before = cli("coverage", "--json", altered).data
    for words in (("--lines", "3-9"), ("--verbosity", "full"), ("--search", "7!")):
        cli("show", altered, *words)
    cli("query", f"sed -n 100,120p {altered}")
    after = cli("coverage", "--json", altered).data
    assert (after["seen"], after["streams"]) == (before["seen"], before["streams"])
    ids = [view["id"] for view in cli("views", "--json").data]
    assert all(cli("views", "show", view).code == 0 for view in ids)
    texts = [cli("views", "show", view).out for view in ids]
    assert sum("\n7!\n" in text for text in texts) == 2


def test_a_text_that_quoted_it_is_not_taken_for_a_broken_log(cli: Any) -> None:
    cli("run", "--verbosity", "full", "-c", "seq 1 4000")
    cli("show", "@last", "--verbosity", "full")
    view = cli("views", "--json").data[-1]["id"]
    whole = cli("views", "show", view)
    assert (whole.code, "\n7\n" in whole.out) == (0, True)
    path = Path(cli("path", "@last").out.strip())
    path.chmod(0o600)
    path.write_text("other\n")
    ran = cli("views", "show", view)
    assert ran.code
    assert "quoted @cmd_" in ran.err
    assert "which was changed since" in ran.err
    assert cli("audit", "--fail-on", "broken-log").code == 0


def test_doctor_finds_bytes_that_were_changed_with_their_times_put_back(cli: Any, altered: str) -> None:
    cli("run", "-c", "seq 1 2000")
    path = Path(cli("path", "@last").out.strip())
    status = path.stat()
    path.chmod(0o600)
    with open(path, "r+b") as file:
        file.write(b"X")
    path.chmod(0o400)
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    assert "altered" not in cli("show", "@last").out
    ran = cli("doctor")
    assert ran.code == 1
    assert ran.out.count("is altered: out was changed after its capture") == 2
    assert 'altered="out was changed after its capture"' in cli("show", "@last").out
    assert "ok altered" in cli("list").out


def test_doctor_finds_an_order_that_was_cut(cli: Any) -> None:
    cli("run", "-c", "echo out; echo err >&2; echo out; echo err >&2")
    order = Path(cli("path", "@last").out.strip()).parent / "order"
    order.write_bytes(order.read_bytes()[:13])
    assert "is altered: the order of out and err was changed after its capture" in cli("doctor").out


def test_a_version_of_a_file_is_read_anew_where_its_bytes_were_changed(cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("as it is\n")
    assert cli("read", str(file)).out == "as it is\n"
    (first,) = cli("list", "--json").data
    path = Path(cli("path", first["ref"]).out.strip())
    path.unlink()
    path.write_text("as it was not\n")
    assert cli("read", str(file)).out == "as it is\n"
    assert len(cli("list", "--json").data) == 2
