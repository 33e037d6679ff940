"""How many examples properties are held against: few and the same each time, or many others by night.

``pytest --hypothesis-profile=thorough`` takes seventy for each.
"""

from hypothesis import settings

_USUAL, _THOROUGH = 14, 1_000


def register_profiles() -> None:
    """Make the profiles known, and the usual one the one that counts unless another is asked for."""
    # The same examples each time: a change is to blame for what fails.
    settings.register_profile("usual", max_examples=_USUAL, deadline=None, derandomize=True)
    settings.register_profile("thorough", max_examples=_THOROUGH, deadline=None)
    settings.load_profile("usual")


def examples(usual: int) -> int:
    """As many examples in the place of so many as the profile takes more than usual; for modules that are collected."""
    return max(1, usual * settings.default.max_examples // _USUAL)
