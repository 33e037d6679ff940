"""Makes encoders once for JSON that is written thousands of times."""

import json
from collections.abc import Callable
from json import encoder as standard

from sightline.typing_names import Any


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
    separators = (",", ":") if compact else None
    plain = json.JSONEncoder(ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys)
    make = getattr(standard, "c_make_encoder", None)
    if make is None:  # the interpreter has no C version
        return plain.encode
    quoted: Callable[[str], str] = standard.encode_basestring_ascii if ensure_ascii else standard.encode_basestring
    pieces = make(None, plain.default, quoted, None, plain.key_separator, plain.item_separator, sort_keys, False, True)
    join = "".join

    def encode(value: Any) -> str:
        return quoted(value) if isinstance(value, str) else join(pieces(value, 0))

    return encode
