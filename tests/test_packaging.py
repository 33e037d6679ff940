"""What is installed: every package and data file, nothing else at the top, and a command that works."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
ROOMS = ("store", "tui")
NEED_EXTRAS = ("sightline.doors.mcp.http", "sightline.doors.proxy.http", "sightline.fleet.", "sightline.fleet.reader.")
"""Modules that only an extra makes usable, and packages of them; nothing else imports them."""
_SECONDS = 300

pytestmark = pytest.mark.skipif(
    not (REPOSITORY / "pyproject.toml").is_file(), reason="the tests lie outside a checkout"
)


def _environment() -> dict[str, str]:
    """Ours without what points Python at other packages."""
    return {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV", "SIGHTLINE_"))
    }


def _do(*words: object, folder: Path, **more: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**_environment(), **more},
        timeout=_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _installed_as(path: Path) -> str:
    """Where a wheel has a file of the tree: as it lies below its source root."""
    return str(Path(*path.relative_to(REPOSITORY).parts[1:]))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a clean virtual environment."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, system_site_packages=False)  # ours installs there: making one takes long
    return folder / "bin" / "python"


def _pip(*words: object, folder: Path) -> None:
    _do(sys.executable, "-m", "pip", *words, folder=folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what is checked out."""
    folder = tmp_path_factory.mktemp("build")
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        if (REPOSITORY / file).exists():
            shutil.copy(REPOSITORY / file, folder)
    for room in ROOMS:
        shutil.copytree(REPOSITORY / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    _pip("wheel", "--no-deps", "--quiet", "-w", folder / "dist", folder, folder=folder)
    [built] = (folder / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def installed(environment: Path, wheel: Path) -> Path:
    """The folder of commands of the environment, with the wheel and what it depends on."""
    # Compiling all of textual and pygments would take longer than what is tried here.
    _pip("--python", environment, "install", "--quiet", "--no-input", "--no-compile", wheel, folder=wheel.parent)
    return environment.parent


def test_wheel_holds_every_source_and_data_file(wheel: Path) -> None:
    data = {
        _installed_as(path)
        for room in ROOMS
        for path in (REPOSITORY / room).rglob("*")
        if path.suffix in (".toml", ".tcss", ".css", ".html", ".js") or path.name == "py.typed"
    }
    assert data <= set(zipfile.ZipFile(wheel).namelist())


def test_wheel_has_the_modules_of_the_tree_and_no_others(wheel: Path) -> None:
    modules = {_installed_as(path) for room in ROOMS for path in (REPOSITORY / room).rglob("*.py")}
    assert modules == {name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".py")}


def test_wheel_has_a_name_that_is_free_on_the_index(wheel: Path) -> None:
    assert wheel.name.startswith("sightline_inspector-")


def test_wheel_puts_two_names_at_the_top(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in tops if not name.endswith((".dist-info", ".data"))} == {"sightline", "sightline_tui"}


def _maintained_files() -> list[Path]:
    folders = [REPOSITORY / name for name in (*ROOMS, "docs", "tests", "benchmarks", ".ci", ".github")]
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in [*found, *REPOSITORY.glob("*.*")] if path.is_file() and path != Path(__file__)]


def test_nothing_installs_us_by_name_from_an_index() -> None:
    """There the name ``sightline`` is another project's, and ours is nobody's until it is published."""
    by_name = re.compile(
        r"(?:pipx?|uvx?|poetry|pdm|conda)\b[^\n`]*\b(?:install|add|run|inject)\b"
        r"[^\n`&;|]*[\s'\"]sightline(?:-inspector)?(?![\w./@-])"
        r"|\buvx\s+(?:--from\s+)?['\"]?sightline\b(?!/)"
        r"|(?<![\w./-])sightline(?:-inspector)?\[[a-z]"
        r"|dependencies = .*['\"]sightline"
    )
    found = []
    for path in _maintained_files():
        with contextlib.suppress(UnicodeDecodeError):
            found += [f"{path}: {line.strip()}" for line in path.read_text().splitlines() if by_name.search(line)]
    own_extras = re.compile(r'pyproject\.toml: "sightline(?:-inspector)?\[[a-z,]+\]",$')
    assert [line for line in found if not own_extras.search(line)] == []


@pytest.mark.parametrize(
    "line",
    [
        "pip install sightline",
        "pip install -U 'sightline[web]'",
        "uvx sightline list",
        "pipx install sightline-inspector",
    ],
)
def test_a_page_that_installs_us_by_name_would_be_found(line: str, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "page.md").write_text(f"{line}\n")
    monkeypatch.setattr(f"{__name__}.REPOSITORY", tmp_path)
    with pytest.raises(AssertionError):
        test_nothing_installs_us_by_name_from_an_index()


def test_wheel_holds_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "/tests/" in name or re.match(r"test_|conftest", Path(name).name)]


def test_installed_command_runs(installed: Path, tmp_path: Path) -> None:
    command, home = installed / "sightline", str(tmp_path / "home")
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    assert _do(command, "--version", folder=tmp_path) == f"sightline {version}\n"
    assert _do(command, "run", "--", "echo", "hi", folder=tmp_path, SIGHTLINE_HOME=home) == "hi\n"
    assert _do(command, "query", "wc -l @last", folder=tmp_path, SIGHTLINE_HOME=home).startswith("1 @cmd_")
    assert _do(command, "list", "--match", "echo", folder=tmp_path, SIGHTLINE_HOME=home).startswith("@cmd_")
    assert "is private" in _do(command, "doctor", folder=tmp_path, SIGHTLINE_HOME=home, HOME=str(tmp_path))


@pytest.mark.parametrize("name", ["with a blank", "long" * 50])
def test_the_command_runs_wherever_its_environment_lies(name: str, wheel: Path, tmp_path: Path) -> None:
    """An installer writes the path of the interpreter into what it makes itself, and a kernel reads 127 bytes of it."""
    venv.create(tmp_path / name, with_pip=False)
    place = tmp_path / name / "bin"
    _pip("--python", place / "python", "install", "--quiet", "--no-deps", "--no-compile", wheel, folder=tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "first").symlink_to(place / "sightline")
    (tmp_path / "bin" / "second").symlink_to("first")  # pipx and uv put links on the path
    for command in (place / "sightline", tmp_path / "bin" / "second"):
        assert _do(command, "--version", folder=tmp_path).startswith("sightline ")
    told = _do("sh", "-c", f"PATH='{place}':$PATH; exec sightline query --help", folder=tmp_path)
    assert told.startswith("usage: sightline query")


def test_the_command_of_a_system_runs_with_the_interpreter_that_has_its_package(wheel: Path, tmp_path: Path) -> None:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    base = Path(sys.base_prefix) / "bin" / version
    _pip("install", "--quiet", "--no-deps", "--ignore-installed", "--prefix", tmp_path, wheel, folder=tmp_path)
    others = tmp_path / "others"
    others.mkdir()
    (others / "python3").write_text("#!/bin/sh\necho an interpreter of another version\n")
    (others / "python3").chmod(0o755)
    (others / version).symlink_to(base)
    given = {"PATH": f"{others}:/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "lib" / version / "site-packages")}
    assert _do(tmp_path / "bin" / "sightline", "--version", folder=tmp_path, **given).startswith("sightline ")
    of_macos = tmp_path / version.removeprefix("python")  # there the folder of one person's packages names no version
    (of_macos / "lib" / "python").mkdir(parents=True)
    (tmp_path / "bin").rename(of_macos / "bin")
    (tmp_path / "lib" / version / "site-packages").rename(of_macos / "lib" / "python" / "site-packages")
    given["PYTHONPATH"] = str(of_macos / "lib" / "python" / "site-packages")
    assert _do(of_macos / "bin" / "sightline", "--version", folder=tmp_path, **given).startswith("sightline ")


def test_installed_packages_fit_each_other(installed: Path, tmp_path: Path) -> None:
    _pip("--python", installed / "python", "check", folder=tmp_path)


def test_every_module_of_the_store_can_be_imported_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    modules = [
        _installed_as(path).removesuffix(".py").replace("/", ".")
        for path in sorted((REPOSITORY / "store").rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
    ]
    modules = [name for name in modules if not name.startswith(NEED_EXTRAS)]
    program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    _do(installed / "python", "-c", program, *modules, folder=tmp_path)
    assert sys.version_info >= (3, 11)


def test_type_checkers_follow_an_editable_installation(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    venv.create(tmp_path / "environment", with_pip=False)
    python = tmp_path / "environment" / "bin" / "python"
    _pip("--python", python, "install", "--quiet", "--no-deps", "--editable", REPOSITORY, folder=tmp_path)
    (tmp_path / "project.py").write_text(
        "from sightline.base.refs import format_ref\nfrom sightline_tui.start import run\n"
        "reveal_type(format_ref)\nreveal_type(run)\n"
    )
    told = _do(
        *(sys.executable, "-m", "mypy", "--python-executable", python, "--cache-dir", tmp_path / "cache"),
        *("--follow-imports", "silent", "project.py"),
        folder=tmp_path,
    )
    assert len(re.findall(r'Revealed type is "def \(', told)) == 2, told
