"""What an output cost as a part of later requests, and sums of such costs."""

from sightline.light.named_tuple import NamedTuple


class PriceRow(NamedTuple):
    """What an output cost its session.

    Attributes:
        session: name of the session.
        output: name of the buffer; of a reply about none, such as a list, the id of the view.
        view: number of the first reply that was about it.
        time: when that came, seconds since the epoch.
        kind: the kind of command or tool that made it.
        bytes: bytes that replies showed.
        tokens: tokens of these.
        measure: how these are known, as in `audit.output_prices`; of several replies, the least certain.
        requests: requests that carried any of it.
        carried: its tokens in all these requests.
        dollars: what they cost; None if no price is known.
        at_least: whether more requests may have carried it, or some have no price.
        again: tokens of lines that were shown although the context still held them.
    """

    session: str
    output: str
    view: int
    time: float
    kind: str
    bytes: int
    tokens: int
    measure: str
    requests: int
    carried: int
    dollars: float | None
    at_least: bool
    again: int


class KindSum(NamedTuple):
    """The sums of the outputs of one kind of command, or of all; see `PriceRow`.

    Attributes:
        kind: the kind.
        outputs: number of outputs.
        tokens, carried, dollars, again: sums; money of those whose price is known.
        unpriced: outputs without a known price.
        at_least: outputs of which more requests may have carried something.
        estimated: outputs whose tokens are estimated from their bytes.
    """

    kind: str
    outputs: int
    tokens: int
    carried: int
    dollars: float
    again: int
    unpriced: int
    at_least: int
    estimated: int
