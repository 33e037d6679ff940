"""See what your agent saw, and what it missed.

Programs may rely on the names below. Each is loaded at its first use, because commands and hooks start with this
module and need none of them.
"""

TYPE_CHECKING = False  # typing's own would take milliseconds of every start
if TYPE_CHECKING:
    from sightline.base.records import Buffer, View
    from sightline.doors.python import list_outputs, query, read_file, read_output, run_command
    from sightline.store import Store
    from sightline.verbs.reply import Reply
else:
    _PLACES = {"Buffer": "base.records", "Reply": "verbs.reply", "Store": "store", "View": "base.records"}

    def __getattr__(name):
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"{__name__}.{_PLACES.get(name, 'doors.python')}"), name)
        globals()[name] = value
        return value


__all__ = [
    "Buffer",
    "Reply",
    "Store",
    "View",
    "list_outputs",
    "query",
    "read_file",
    "read_output",
    "run_command",
]
