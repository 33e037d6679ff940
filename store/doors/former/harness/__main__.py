"""What 0.1.0 wrote into settings for hooks, this file's path as it is installed, goes on working here."""

import sys

from sightline.doors.hooks.event import main

if __name__ == "__main__":
    main(sys.argv[1:])
