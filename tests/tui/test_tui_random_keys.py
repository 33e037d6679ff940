"""Random keys while the store changes: nothing is raised. For minutes: ``python -m benchmarks soak-keys``."""

from pathlib import Path

import pytest

from benchmarks.soaking.keys import KeySoak


@pytest.mark.parametrize("seed", [1, 7])
def test_no_key_raises_whatever_becomes_of_the_store(tmp_path: Path, seed: int) -> None:
    done = KeySoak(str(tmp_path), seed).run(lambda typed: typed.keys < 120)
    assert done.keys >= 120
    assert done.deeds["capture"]
