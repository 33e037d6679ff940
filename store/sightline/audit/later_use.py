"""Looks whether an agent used an output later: opened it again, or took up words that it first met there.

What is found did happen, though words are taken up by chance, too; places that each machine has, such as ``/dev/null``,
are no such words. That nothing is found is only *no later use seen*, since an agent may use what it never repeats.
"""

import re

from sightline.base.errors import SightlineError
from sightline.base.records import IndexedView
from sightline.harnesses.tool_call import dict_of
from sightline.light.json_text import loads
from sightline.log.log_index import list_views
from sightline.log.session_history import events_of
from sightline.log.view_text import view_text
from sightline.store import Reading

_WORD = re.compile(r"[\w./@-]{6,200}")
_DISTINCT = re.compile(r"[\d_/]|\w\.\w|[a-z][A-Z]|-\w+-")  # what makes a word one that nobody writes by chance
_EVERYWHERE = re.compile(r"/(?:bin|dev|etc|opt|proc|sbin|sys|tmp|usr|var)/")
_MOST_CHARACTERS = 1 << 18  # of a reply, whose words are looked for
_MOST_VIEWS = 400  # that are searched


def later_use(store: Reading, session: str, output: str, number: int) -> str:
    """Return how a session used an output after a reply, in words; empty if no use is seen.

    Args:
        store: the store.
        session: name of the session.
        output: name of the output.
        number: number of the first reply about it.
    """
    views = list_views(store, session=session)[::-1]
    own = next((one for one in views if one.view.number == number), None)
    if own is None:
        return ""
    later = [one for one in views if one.view.number > number][:_MOST_VIEWS]
    again = next((one for one in later if output in one.view.refs), None)
    if again is not None:
        return f"opened again by {again.view.id}"
    if path := _path_of(own):
        again = next((one for one in later if _path_of(one) == path), None)
        if again is not None:
            return f"its file taken up by {again.view.id}"
    words = _new_words(store, own, [one for one in views if one.view.number <= number])
    if not words:
        return ""
    for one in later:
        if word := next(iter(sorted(words & _words(one.view.request))), ""):
            return f"{word} taken up by {one.view.id}"
    for message in events_of(store, session).messages:
        if message.time > own.view.time and (word := next(iter(sorted(words & _words(message.text or ""))), "")):
            return f"{word} taken up by what the agent said"
    return ""


def _path_of(listed: IndexedView) -> str:
    """Return the path of the file that a call names; empty if it names none."""
    asked = loads(listed.view.request)
    path = asked.get("path") or dict_of(asked.get("arguments")).get("file_path") if isinstance(asked, dict) else ""
    return path if isinstance(path, str) else ""


def _new_words(store: Reading, own: IndexedView, before: list[IndexedView]) -> set[str]:
    """Return the distinct words of a reply that stood in no request so far."""
    try:
        text = view_text(store, own)[:_MOST_CHARACTERS]
    except SightlineError:
        return set()
    asked = set[str]().union(*(_words(one.view.request) for one in before))
    return _words(text) - asked


def _words(text: str) -> set[str]:
    found = (word.strip("./-@") for word in _WORD.findall(text) if not _EVERYWHERE.match(word))
    return {word for word in found if len(word) > 5 and not word.isdigit() and _DISTINCT.search(word)}
