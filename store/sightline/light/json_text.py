"""JSON as `json` reads and writes it, by the same C code, without loading `json`: half of that, 2 ms, is patterns.

Whoever needs indentation, hooks for objects or places of errors takes `json` itself.
"""

from sightline.light.typing_names import TYPE_CHECKING, Any, Callable, NoReturn

if TYPE_CHECKING:
    _c: Any
else:
    try:
        import _json as _c
    except ImportError:  # not every Python has it
        _c = None

_NOT_READ = (ValueError, StopIteration, SystemError, RecursionError)
"""What the C code raises for what is no JSON, or is nested too deep; SystemError where `json` is not loaded."""

_SPACES = " \t\n\r"


class TooDeep(ValueError):
    """A JSON text is nested too deep to be read."""


class _Decoding:
    """What the C code asks for: how numbers are read, and that strings hold no control characters."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


class _StrictDecoding(_Decoding):
    @staticmethod
    def parse_constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")


_scan: Callable[[str, int], tuple[Any, int]] | None = _c and _c.make_scanner(_Decoding)
_scan_strictly: Callable[[str, int], tuple[Any, int]] | None = _c and _c.make_scanner(_StrictDecoding)


def loads(text: str | bytes, *, strict: bool = False) -> Any:
    """Return the value of a JSON text, as `json.loads` does. Raises ValueError, with the place, if it is none,
    and TooDeep, a ValueError, too.

    Args:
        text: the text.
        strict: whether NaN and Infinity, which JSON does not have, are errors.
    """
    scan = _scan_strictly if strict else _scan
    if scan is not None:
        try:
            found = (text if isinstance(text, str) else text.decode()).strip(_SPACES)
            value, end = scan(found, 0)
            if end == len(found):
                return value
        except _NOT_READ:  # of another encoding, or no JSON
            pass
    import json  # what tells an error, or reads another encoding

    try:
        return json.loads(text, parse_constant=_StrictDecoding.parse_constant if strict else None)
    except RecursionError as error:
        raise TooDeep("it is nested too deep") from error


def first_value(text: str, at: int = 0) -> tuple[Any, int]:
    """Return the JSON value that begins at a place, and where it ends, as `json.JSONDecoder.raw_decode` does.

    Raises:
        ValueError: none begins there.
    """
    if _scan is not None:
        try:
            return _scan(text, at)
        except _NOT_READ:
            pass
    import json  # what tells an error

    try:
        return json.JSONDecoder().raw_decode(text, at)
    except RecursionError as error:
        raise TooDeep("it is nested too deep") from error


def dumps(
    value: Any, *, ensure_ascii: bool = True, compact: bool = False, sort_keys: bool = False, indent: int | None = None
) -> str:
    """Return a value as JSON, as `json.dumps` does; see `encoder`. Raises TypeError if JSON has no such value."""
    if indent is not None:
        import json  # what people read may take longer

        separators = (",", ":") if compact else None
        return json.dumps(value, ensure_ascii=ensure_ascii, sort_keys=sort_keys, indent=indent, separators=separators)
    return encoder(ensure_ascii=ensure_ascii, compact=compact, sort_keys=sort_keys)(value)


def encoder(*, ensure_ascii: bool = True, compact: bool = False, sort_keys: bool = False) -> Callable[[Any], str]:
    """Return a function like `json.dumps` with these options, for values that do not contain themselves.

    `json` prepares an encoder for each value, which takes as long as encoding a short one.

    Args:
        ensure_ascii: whether to escape characters beyond ASCII.
        compact: whether to leave out spaces after commas and colons.
        sort_keys: whether to sort members by name.

    Returns:
        A function from a value to its text.
    """
    if _c is None:
        import json

        separators = (",", ":") if compact else None
        return json.JSONEncoder(ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys).encode
    quoted: Callable[[str], str] = _c.encode_basestring_ascii if ensure_ascii else _c.encode_basestring
    colon, comma = (":", ",") if compact else (": ", ", ")
    pieces = _c.make_encoder(None, _refuse, quoted, None, colon, comma, sort_keys, False, True)
    join = "".join

    def encode(value: Any) -> str:
        return quoted(value) if isinstance(value, str) else join(pieces(value, 0))

    return encode


def _refuse(value: Any) -> None:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
