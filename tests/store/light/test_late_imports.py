"""Modules and names that are loaded at their first use."""

import ast
import importlib.util
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

import sightline
from sightline.light.late_imports import late_modules, late_names

SOURCES = [
    path
    for place in (Path(sightline.__file__).parent, Path(__file__).parents[3] / "tui")
    for path in sorted(place.rglob("*.py"))
]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with a package ``shop``, whose module ``till`` notes how often it is loaded."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/__init__.py").write_text("")
    (tmp_path / "shop/till.py").write_text(
        "with open(__file__ + '.loaded', 'a') as file: file.write('x')\nPRICE = 3\ndef pay(): return PRICE\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("shop", "shop.till"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def loaded(package: Path) -> int:
    try:
        return len((package / "shop/till.py.loaded").read_text())
    except FileNotFoundError:
        return 0


def module(source: str) -> ModuleType:
    made = ModuleType("made")
    vars(made).update(late_modules=late_modules, late_names=late_names)
    exec(source, vars(made))
    return made


def test_late_module_is_loaded_by_its_first_use_and_only_then(package: Path) -> None:
    made = module(
        "with late_modules(globals()):\n    from shop import till\ndef pays(): return till.pay() + till.PRICE\n"
    )
    assert not loaded(package)
    assert (made.pays(), made.pays(), loaded(package)) == (6, 6, 1)
    assert made.till is sys.modules["shop.till"]


def test_late_module_may_have_another_name(package: Path) -> None:
    assert module("with late_modules(globals()):\n    from shop import till as desk\n").desk.PRICE == 3


def test_late_name_is_loaded_when_others_ask_for_it(package: Path) -> None:
    made = module("with late_names(globals()):\n    from shop.till import PRICE as PRICE, pay as pay\n")
    assert not loaded(package)
    assert (made.PRICE, made.pay(), loaded(package)) == (3, 3, 1)
    with pytest.raises(AttributeError, match="'made' has no attribute 'other'"):
        _ = made.other


def test_a_module_keeps_its_late_modules_beside_the_names_that_it_hands_on(package: Path) -> None:
    made = module(
        "with late_modules(globals()):\n    from shop import till\n"
        "with late_names(globals()):\n    from shop.till import PRICE\n"
        "def paid(): return till.pay()"
    )
    assert not loaded(package)
    assert (made.paid(), made.PRICE) == (3, 3)


def test_a_module_that_is_missing_is_reported_at_its_first_use(package: Path) -> None:
    made = module("with late_modules(globals()):\n    from shop import cellar\n")
    with pytest.raises(ModuleNotFoundError, match=r"shop\.cellar"):
        _ = made.cellar.wine


def test_after_an_error_imports_load_again(package: Path) -> None:
    with pytest.raises(ImportError, match="from PACKAGE import MODULE"):
        module("with late_modules(globals()):\n    import shop.till\n")
    assert module("from shop import till").till.PRICE == 3


def test_imports_of_other_threads_load_meanwhile(package: Path) -> None:
    names: dict[str, object] = {"__name__": "made"}
    found: list[int] = []

    def imports() -> None:
        exec("from shop.till import PRICE\nfound.append(PRICE)", {"found": found})

    with late_modules(names):
        other = threading.Thread(target=imports)
        other.start()
        other.join()
    assert found == [3]


def _late_imports(path: Path, kind: str) -> list[tuple[str, str]]:
    source = path.read_text()
    if f"with {kind}(" not in source:
        return []
    return [
        (str(one.module), alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.With) and ast.unparse(block.items[0].context_expr) == f"{kind}(globals())"
        for one in block.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    ]


def test_late_modules_are_modules_not_names_in_them() -> None:
    found = {one for path in SOURCES for one in _late_imports(path, "late_modules")}
    assert len(found) > 50
    for package, name in found:
        assert importlib.util.find_spec(f"{package}.{name}"), (package, name)


def test_late_names_are_in_their_modules() -> None:
    found = {one for path in SOURCES for one in _late_imports(path, "late_names")}
    assert len(found) > 50
    for place, name in found:
        assert hasattr(importlib.import_module(place), name), (place, name)
