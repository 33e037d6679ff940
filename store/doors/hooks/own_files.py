"""Files of a harness' own that an event names: only what lies where that harness keeps such files is opened."""

from collections.abc import Sequence

from sightline.harnesses.past import Beside


def own_file(path: str, ends: Sequence[str]) -> Beside:
    """The file, for `open_beside`, which follows no link below the harness' folder and opens nothing but a file.

    Args:
        path: as the event names it.
        ends: the last names of such a path, the first that of the harness' folder; an empty one may be any.

    Raises:
        FileNotFoundError: it does not lie there.
    """
    names = path.split("/")
    last = names[-len(ends) :]
    if not path.startswith("/") or "\0" in path or len(names) <= len(ends):
        raise FileNotFoundError(2, "not the path of a file")
    if any(end not in ("", name) for end, name in zip(ends, last, strict=True)):
        raise FileNotFoundError(2, "not where the harness keeps such files")
    return Beside("/".join(names[: 1 - len(ends)]), tuple(last[1:]))
