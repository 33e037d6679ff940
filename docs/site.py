"""Brings files of the project that pages link to into the site, where they stand below ``project/``.

A hook of mkdocs (``mkdocs.yml``).
"""

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

DOCS = Path(__file__).resolve().parent
PROJECT = DOCS.parent
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")


def place(target: Path) -> str:
    """Where the site has a file of the project."""
    inside = target.is_relative_to(DOCS)
    return target.relative_to(DOCS).as_posix() if inside else f"project/{target.relative_to(PROJECT).as_posix()}"


def targets(page: Path) -> list[Path]:
    """The files of the project that a page links to."""
    found = [(page.parent / link).resolve() for link in LINK.findall(page.read_text(encoding="utf-8"))]
    return [path for path in found if path.is_relative_to(PROJECT) and path.is_file()]


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add what pages link to, and what that links to."""
    waiting = list(DOCS.glob("**/*.md"))
    known = set(waiting)
    while waiting:
        for path in targets(waiting.pop()):
            if path not in known:
                known.add(path)
                if not path.is_relative_to(DOCS):
                    files.append(File.generated(config, place(path), abs_src_path=str(path)))
                if path.suffix == ".md":
                    waiting.append(path)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Have links lead to where the site has their files."""
    source = Path(page.file.abs_src_path).resolve()
    here = os.path.dirname(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        target = (source.parent / link[1]).resolve()
        return os.path.relpath(place(target), here) if target.is_relative_to(PROJECT) else link[1]

    return LINK.sub(moved, markdown)
