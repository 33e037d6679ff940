"""A hook's entry: run by path, so that nothing but what the hook needs is imported."""

import sys

from sightline.store.doors.harness.hook import main

if __name__ == "__main__":
    main(sys.argv[1:])
