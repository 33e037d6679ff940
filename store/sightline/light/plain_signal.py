"""Python's `signal` without its enumerations, which take 1 ms to make: the same functions, and plain numbers."""

from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    import signal as signal
else:
    try:
        import _signal as signal  # has all that the other hands on
    except ImportError:  # not every Python has to have it
        import signal

__all__ = ["signal"]
