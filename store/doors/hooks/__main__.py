"""The entry of hooks, and of the script that they put into commands; it is run by path, so that little is imported."""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # what one event imports and makes is not garbage, and looking through it takes 3 ms
    if sys.argv[1:2] == ["capture"]:
        from sightline.doors.hooks.capture_pipe import main_of_script

        gc.enable()
        main_of_script(sys.argv[2:])
    from sightline.doors.hooks.event import main

    main(sys.argv[1:])
