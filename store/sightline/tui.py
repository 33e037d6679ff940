"""``python -m sightline.tui``, as 0.2.0 started the inspector in a browser: it hands on to `sightline_tui`."""

import runpy

if __name__ == "__main__":
    runpy.run_module("sightline_tui", run_name="__main__", alter_sys=True)
