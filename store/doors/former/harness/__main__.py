"""Keeps the hooks running that 0.1.0 wrote into settings by the path of this file."""

import sys

from sightline.doors.hooks.event import main

if __name__ == "__main__":
    main(sys.argv[1:])
