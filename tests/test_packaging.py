"""What is installed: every package and data file, nothing at the top but ``sightline``, and a command that works."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
ROOMS = ("store", "tui")
NEED_EXTRAS = ("sightline.doors.mcp.http", "sightline.doors.mcp.proxy_http")
"""Modules that only an extra makes usable; nothing else imports them."""
_SECONDS = 300

pytestmark = [
    pytest.mark.skipif(not (REPOSITORY / "pyproject.toml").is_file(), reason="the tests lie outside a checkout"),
    pytest.mark.xdist_group("packaging"),
]


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
    _pip("--python", environment, "install", "--quiet", "--no-input", wheel, folder=wheel.parent)
    return environment.parent


def test_wheel_holds_every_source_and_data_file(wheel: Path) -> None:
    files = {
        f"sightline/{path.relative_to(REPOSITORY)}"
        for room in ROOMS
        for path in (REPOSITORY / room).rglob("*")
        if path.suffix in (".py", ".toml", ".tcss") or path.name == "py.typed"
    }
    assert files <= set(zipfile.ZipFile(wheel).namelist())


def test_wheel_puts_one_name_at_the_top(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in tops if not name.endswith(".dist-info")} == {"sightline"}


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
    assert "is private" in _do(command, "doctor", folder=tmp_path, SIGHTLINE_HOME=home)


def test_installed_packages_fit_each_other(installed: Path, tmp_path: Path) -> None:
    _pip("--python", installed / "python", "check", folder=tmp_path)


def test_every_module_of_the_store_can_be_imported_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    modules = [
        "sightline." + ".".join(path.relative_to(REPOSITORY).with_suffix("").parts)
        for path in sorted((REPOSITORY / "store").rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
    ]
    modules = [name for name in modules if name not in NEED_EXTRAS]
    program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    _do(installed / "python", "-c", program, *modules, folder=tmp_path)
    assert sys.version_info >= (3, 11)
