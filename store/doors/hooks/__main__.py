"""The entry of a hook, and of the script that hooks put into commands: run by path, so that little is imported."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["capture"]:
        from sightline.doors.hooks.capture_pipe import main_of_script

        main_of_script(sys.argv[2:])
    from sightline.doors.hooks.event import main

    main(sys.argv[1:])
