"""Finds out whether others than this account and root could have written a file, or put another one in its place."""

import os
import stat

from sightline.light_library import suppress

_OTHERS, _GROUP = 0o002, 0o020


def others_could_write(path: str) -> str:
    """Return why others could have written a file or folder, or what lies below it; empty if they could not.

    It, and every folder above it, has to belong to this account or to root, and nobody else may write to them. A
    folder above it with the sticky bit, such as ``/tmp``, may be written by all: nobody can move there what is
    another's. If it does not exist, the folders above it count.
    """
    path = os.path.abspath(path)
    for way in dict.fromkeys((os.path.realpath(path), path)):
        if why := _on_the_way(way):
            return why
    return ""


def _on_the_way(path: str) -> str:
    place, is_last = path, True
    while True:
        try:
            status = os.lstat(place)
        except OSError:
            is_last = False  # it is yet to be made
        else:
            if why := _wrong_with(place, status, is_last=is_last):
                return why
            is_last = False
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above


def _wrong_with(place: str, status: os.stat_result, *, is_last: bool) -> str:
    trusted = {os.geteuid(), 0}
    if not is_last and status.st_uid not in trusted:
        trusted.add(os.stat("/").st_uid)  # within a namespace of users, root may have another number
    if status.st_uid not in trusted:
        return f"{place} belongs to {_user(status.st_uid)}"
    mode = status.st_mode
    if stat.S_ISLNK(mode) or (mode & stat.S_ISVTX and not is_last):
        return ""
    if mode & _OTHERS or (mode & _GROUP and not _is_private(status.st_gid)):
        return f"{place} can be written by others (its mode is {stat.S_IMODE(mode):04o})"
    return ""


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
