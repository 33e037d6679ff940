"""Logs of CI services: a step fails for a reason that no rule knows; others went well, were tolerated or clean up."""

from collections.abc import Callable

from benchmarks.failures.made.kit import Made, Words, made

_Step = tuple[str, list[str], int]
"""What ran, what it wrote, its exit code."""


def cases() -> list[Made]:
    """Five services, five ways in which steps come about."""
    return [_case(service, way) for service in _SERVICES for way in ("near", "far", "tolerated", "cleaned", "again")]


def _reason(words: Words) -> list[str]:
    """What a tool that nobody knows says, in words that no class knows either."""
    noun, number = words.noun(), words.number()
    return words.chance.choice(
        (
            [f"{noun}.toml: key '{words.noun()}' has no value on line {number}", f"  see docs/{noun}.md"],
            [f"{noun} {number} is older than {noun} {number + 3}", f"please run ./{noun} --renew"],
            [
                f"Please format these files: {noun}/{words.name()}.x",
                f"Please format these files: {noun}/{words.name()}.y",
            ],
            [f"licence header is not there: {noun}/{words.name()}.c", f"1 of {number} files"],
            [f'{noun}: invalid argument "{words.noun()}-{number}" for --tag', f"See '{noun} --help'."],
        )
    )


def _case(service: str, way: str) -> Made:
    words = Words(f"steps {service} {way}")
    chance = words.chance
    reason = _reason(words)
    after = words.said(chance.choice((8, 11)) if way == "far" else chance.choice((0, 2)))
    failing = [*words.said(60), *reason, *after]
    steps: list[_Step] = [
        ("./install.sh", [*words.said(30), *words.scary(25), *words.said(30)], 0),
        ("./build.sh --all", [*words.compiled(50), *words.warned(12)], 0),
    ]
    if way == "tolerated":
        steps.append(("./lint.sh || true", [*words.said(12), *words.scary(4)], 0))
    if way == "again":
        first = [*words.said(20), f"{words.noun()}: will try again"]
        steps += [("./verify.sh", first, 0), ("./verify.sh", failing, 2)]
    else:
        steps.append(("./verify.sh", failing, 2))
    if way == "cleaned":
        steps.append(("./cleanup.sh", [*words.said(60), *words.scary(30), *words.said(40)], 1))
    else:
        steps.append(("./report.sh", words.said(80), 0))
    return made(f"steps-{service}-{way}", f"ci-{service}", _SERVICES[service](steps), reason, command="cat job.log")


def _travis(steps: list[_Step]) -> list[str]:
    lines = ["Worker information", "hostname: worker-7", "travis_fold:start:system_info", "Build system information"]
    for command, said, code in steps:
        lines += [f"$ {command}", *said, "", f'The command "{command}" exited with {code}.', ""]
    return [*lines, "Done. Your build exited with 1."]


def _actions(steps: list[_Step]) -> list[str]:
    lines = []
    failed = False
    for command, said, code in steps:
        if failed:
            lines += ["Post job cleanup.", *said]
            continue
        lines += [f"##[group]Run {command}", command, "shell: /usr/bin/bash -e {0}", "##[endgroup]", *said]
        if code:
            lines.append(f"##[error]Process completed with exit code {code}.")
            failed = True
    return [
        f"2024-03-05T10:{n // 600 % 60:02}:{n // 10 % 60:02}.{n % 10}000000Z {line}" for n, line in enumerate(lines)
    ]


def _gitlab(steps: list[_Step]) -> list[str]:
    lines = ["Running with gitlab-runner 16.5.0 (853330f9)", "section_start:1714644600:prepare_executor"]
    lines += ["Using Docker executor with image alpine ...", "section_end:1714644605:prepare_executor"]
    lines.append("section_start:1714644672:step_script")
    for command, said, code in steps:
        if code == 1:
            lines += ["section_start:1714644680:after_script", "Running after_script", f"$ {command}", *said]
            continue
        lines += [f"$ {command}", *said]
        if code:
            lines.append("section_end:1714644675:step_script")
    return [*lines, "Cleaning up project directory and file based variables", f"ERROR: Job failed: exit code {2}"]


def _jenkins(steps: list[_Step]) -> list[str]:
    lines = ["Started by user ada", "[Pipeline] Start of Pipeline", "[Pipeline] node"]
    for command, said, code in steps:
        lines += ["[Pipeline] sh", f"+ {command}", *said]
        if code == 2:
            lines += [
                "[Pipeline] }",
                "[Pipeline] // stage",
                "[Pipeline] stage",
                "[Pipeline] { (Declarative: Post Actions)",
            ]
    return [*lines, "[Pipeline] End of Pipeline", "ERROR: script returned exit code 2", "Finished: FAILURE"]


def _circle(steps: list[_Step]) -> list[str]:
    lines = []
    for command, said, code in steps:
        lines += ["#!/bin/bash -eo pipefail", command, *said, ""]
        if code:
            lines.append(f"Exited with code exit status {code}")
            lines.append("")
    return [*lines, "CircleCI received exit code 2"]


def _azure(steps: list[_Step]) -> list[str]:
    lines = []
    for number, (_, said, code) in enumerate(steps):
        lines += [f"##[section]Starting: Step {number}", "=" * 40, f"Task         : Bash {number}", "=" * 40]
        lines += ["Generating script.", f"========================== Starting Command Output {'=' * 10}", *said]
        if code:
            lines.append(f"##[error]Bash exited with code '{code}'.")
        lines.append(f"##[section]Finishing: Step {number}")
    return lines


_SERVICES: dict[str, Callable[[list[_Step]], list[str]]] = {
    "travis": _travis,
    "actions": _actions,
    "gitlab": _gitlab,
    "jenkins": _jenkins,
    "circle": _circle,
    "azure": _azure,
}
