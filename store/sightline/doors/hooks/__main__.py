"""Where the hooks start that 0.2.0 wrote into settings, whose lines would hide that this file is gone."""

import sys

if __name__ == "__main__":
    sys.path.append(__file__.rsplit("/", 4)[0])
    from sightline.hook import start

    start()
