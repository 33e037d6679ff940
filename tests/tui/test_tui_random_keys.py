"""Random keys while the store changes: nothing is raised. For minutes: ``python -m benchmarks soak-keys``."""

from pathlib import Path

from benchmarks.soaking.keys import KeySoak


def test_no_key_raises_whatever_becomes_of_the_store(tmp_path: Path) -> None:
    done = KeySoak(str(tmp_path), seed=7).run(lambda typed: typed.keys < 120)
    assert done.keys >= 120
    assert done.deeds["capture"]
