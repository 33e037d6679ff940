"""JSON that is written thousands of times: encoders that are made ready once."""

import json
from collections.abc import Callable
from json import encoder as standard
from typing import Any


def encoder(*, ensure_ascii: bool = True, compact: bool = False, sort_keys: bool = False) -> Callable[[Any], str]:
    """What `json.dumps` does with these options, for values that do not contain themselves.

    `json` makes itself ready anew for each value, which takes as long as a short one.

    Args:
        ensure_ascii: whether characters beyond ASCII are escaped.
        compact: whether there are no spaces behind commas and colons.
        sort_keys: whether members are in the order of their names.

    Returns:
        A function from a value to its text.
    """
    separators = (",", ":") if compact else None
    plain = json.JSONEncoder(ensure_ascii=ensure_ascii, separators=separators, sort_keys=sort_keys)
    make = getattr(standard, "c_make_encoder", None)
    if make is None:  # an interpreter that does it in Python
        return plain.encode
    quoted: Callable[[str], str] = standard.encode_basestring_ascii if ensure_ascii else standard.encode_basestring
    pieces = make(None, plain.default, quoted, None, plain.key_separator, plain.item_separator, sort_keys, False, True)
    join = "".join

    def encode(value: Any) -> str:
        return quoted(value) if isinstance(value, str) else join(pieces(value, 0))

    return encode
