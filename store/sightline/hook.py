"""Where hooks start, and what they start beside commands: settings of harnesses name this file, so it stays here.

It is run by its path, so that little is imported.
"""

import gc
import site
import sys

TYPE_CHECKING = False  # sightline.light.typing_names may not be found before _start_without_site
if TYPE_CHECKING:
    from typing import Any


class _Elsewhere:
    """Finds what lies neither beside this package nor in Python's own library, where Python was started with ``-S``.

    What `site` does takes 2.5 ms, and few events need a package of somebody else.
    """

    @classmethod
    def find_spec(cls, *sought: "Any") -> "Any":
        """Have `site` add its folders, once, and look again."""
        sys.meta_path.remove(cls)
        site.main()
        return next(filter(None, (finder.find_spec(*sought) for finder in sys.meta_path)), None)


def _start_without_site() -> None:
    place, package, _ = __file__.rsplit("/", 2)
    if package == "sightline":
        sys.path.append(place)
    sys.meta_path.append(_Elsewhere)


def start() -> None:
    """Answer the event that the arguments name, or do what they ask for beside a command; the process ends here."""
    if sys.flags.no_site:
        _start_without_site()
    gc.disable()  # what one event imports and makes is not garbage, and looking through it takes 3 ms
    if sys.argv[1:2] == ["capture"]:
        from sightline.agents.hooks.capture_pipe import main_of_script

        gc.enable()
        main_of_script(sys.argv[2:])
    if sys.argv[1:2] == ["task"]:
        from sightline.agents.hooks.task_recorder import main as main_of_task

        gc.enable()
        main_of_task(sys.argv[2:])
    from sightline.agents.hooks.event import main

    main(sys.argv[1:])


if __name__ == "__main__":
    start()
