"""Finds out whether others than this account and root could have written a file, or put another one in its place."""

import os
import stat

from sightline.light.library import suppress
from sightline.light.typing_names import Iterator

_OTHERS, _GROUP = 0o002, 0o020
_MOST_LINKS = 40  # Linux follows no more


def others_could_write(path: str) -> str:
    """Return why others could have written a file or folder, or what lies below it; empty if they could not.

    It, every folder above it, and every link and folder that the path leads through, has to belong to this account or
    to root, and nobody else may write to them. A folder above it with the sticky bit, such as ``/tmp``, may be written
    by all: nobody can move there what is another's. If it does not exist, the folders above it count.
    """
    is_last = os.path.exists(path)
    for place, status in reversed(list(_looked_up(os.path.abspath(path)))):
        if why := _wrong_with(place, status, is_last=is_last):
            return why
        is_last = False
    return ""


def _looked_up(path: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each folder, link and file that the system looks up on the way to a path, as far as they exist."""
    reached, ahead, links = "/", path.split("/")[::-1], 0
    yield reached, os.lstat(reached)
    while ahead:
        name = ahead.pop()
        if name in ("", "."):
            continue
        if name == "..":  # of a link: what was reached is no link itself
            reached = os.path.dirname(reached)
            continue
        place = os.path.join(reached, name)
        try:
            status = os.lstat(place)
        except OSError:
            return  # it is yet to be made
        yield place, status
        if not stat.S_ISLNK(status.st_mode):
            reached = place
            continue
        links += 1
        if links > _MOST_LINKS:
            return  # the system does not open it either
        target = os.readlink(place)
        ahead += target.split("/")[::-1]
        if target.startswith("/"):
            reached = "/"


def _wrong_with(place: str, status: os.stat_result, *, is_last: bool) -> str:
    trusted = {os.geteuid(), 0}
    if not is_last and status.st_uid not in trusted:
        trusted.add(os.stat("/").st_uid)  # within a namespace of users, root may have another number
    if status.st_uid not in trusted:
        return f"{place} belongs to {_user(status.st_uid)}"
    mode = status.st_mode
    if stat.S_ISLNK(mode) or (mode & stat.S_ISVTX and not is_last):
        return ""
    if mode & _GROUP and _has_access_list(place):
        return f"{place} can be written by others (its access list allows it)"
    if mode & _OTHERS or (mode & _GROUP and not _is_private(status.st_gid)):
        return f"{place} can be written by others (its mode is {stat.S_IMODE(mode):04o})"
    return ""


def _has_access_list(place: str) -> bool:
    """Return whether Linux' access list of a file names further users or groups; then the mode's bits for the group
    say what the list allows at most."""
    try:
        return "system.posix_acl_access" in os.listxattr(place)
    except (AttributeError, OSError):  # macOS; a file system without attributes
        return False


def _user(number: int) -> str:
    import pwd  # needed for a message only

    try:
        return f"{pwd.getpwuid(number).pw_name} (user {number})"
    except KeyError:
        return f"user {number}"


def _is_private(group: int) -> bool:
    """Return whether a group is root's or one account's own: many systems give each account a group of its name."""
    import grp  # few folders can be written by a group
    import pwd

    own = {"root"}
    with suppress(KeyError):  # a container may run under a number without a name
        own.add(pwd.getpwuid(os.geteuid()).pw_name)
    try:
        found = grp.getgrgid(group)
    except KeyError:
        return group == 0
    return (group == 0 or found.gr_name in own) and own.issuperset(found.gr_mem)
