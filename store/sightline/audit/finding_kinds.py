"""The kinds of what an audit finds: one list, with all words for them.

A new kind is one more constant here, and what finds it: `sightline.audit.output_facts` for one output,
`sightline.audit.evidence.check_alarms` for what agents claim and check.
"""


class FindingKind(str):
    """The name of a kind of finding, as data and options have it.

    Attributes:
        meaning: what it means, as the help of the command says it.
        headline: what it is called above the finding, in the brief and in reports.
        of_claim: whether it is about what an agent claimed.
        quotes: whether its text quotes what an agent said.
    """

    headline: str
    meaning: str
    of_claim: bool
    quotes: bool

    def __new__(
        cls, name: str, headline: str, meaning: str, *, of_claim: bool = False, quotes: bool = False
    ) -> "FindingKind":
        """Make a kind; all words are needed, so that no screen lacks any."""
        made = super().__new__(cls, name)
        made.headline, made.meaning, made.of_claim, made.quotes = headline, meaning, of_claim, quotes or of_claim
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Travel to another process as its name, to which it is equal."""
        return str, (str.__str__(self),)


OVERLOOKED = FindingKind(
    "overlooked-failure", "Overlooked", "a failure in an output, of which no line was in any reply"
)
CUT = FindingKind(
    "cut-failure",
    "Failed, cut, and never read again",
    "a failed command whose reply was cut before a line that tells of the failure, and which was neither asked for "
    "nor run again",
)
PARTIAL = FindingKind(
    "failed-partial",
    "Only a part reached the store",
    "an output of which only a part reached the store, for instance because a harness cut it, and which failed "
    "or may have failed",
)
ALTERED = FindingKind(
    "altered-output", "Altered", "an output whose bytes in the store were changed after its capture, or are missing"
)
UNTOLD = FindingKind(
    "untold-failure",
    "Failed after the last reply",
    "a command, for instance one in the background, that failed after the last reply about it",
)
FORGOTTEN = FindingKind(
    "forgotten-failure",
    "Forgotten with the context",
    "a failure that was seen only before the context was compacted or cleared, was not shown again, and "
    "whose command has not succeeded since",
)
STALE_CHECK = FindingKind(
    "stale-check",
    "Not checked since an edit",
    "tests, a build, a type check or lint that last ran well before the last edit of a file that it could depend on",
)
FAILING_CHECK = FindingKind(
    "failing-check",
    "The last check failed",
    "one of these whose last run failed",
)
UNREAD_EDIT = FindingKind(
    "unread-edit",
    "Changed without being read",
    "lines that were changed though none of them had been shown",
)
UNSEEN_RESULT = FindingKind(
    "unseen-result",
    "Claimed without seeing the result",
    "success that was claimed on a run whose result the reply did not show",
    quotes=True,
)
MASKED_EXIT = FindingKind(
    "masked-exit",
    "Failed behind exit 0",
    "a check that failed in a line of commands that ended well, as before `| tail` or `|| true`",
)
LOOP = FindingKind(
    "loop",
    "Again and again",
    "the same output of a failed check, the same edit made and taken back, or the same lines of a file read although "
    "the context still held them, again and again",
)
CONTRADICTED_CLAIM = FindingKind(
    "contradicted",
    "Claimed, and contradicted",
    "an agent's claim that the last run contradicts",
    of_claim=True,
)
STALE_CLAIM = FindingKind(
    "stale-claim",
    "Claimed on a stale run",
    "a claim whose runs are older than the last edit",
    of_claim=True,
)
UNSUPPORTED_CLAIM = FindingKind(
    "no-evidence",
    "Claimed without evidence",
    "a claim for which there is no evidence in the log",
    of_claim=True,
)
BROKEN = FindingKind("broken-log", "The audit log", "a log that was changed or cut: its chain of hashes does not hold")

_ALARMS = (
    *(FORGOTTEN, STALE_CHECK, FAILING_CHECK, UNREAD_EDIT, UNSEEN_RESULT, MASKED_EXIT, LOOP),
    *(CONTRADICTED_CLAIM, STALE_CLAIM, UNSUPPORTED_CLAIM),
)
ALARMS: dict[str, FindingKind] = {kind: kind for kind in _ALARMS}
"""Those that the evidence of a session raises, by name."""

KINDS: dict[str, FindingKind] = {kind: kind for kind in (OVERLOOKED, CUT, PARTIAL, ALTERED, UNTOLD, *_ALARMS, BROKEN)}
"""All, by name, in the order in which they are explained."""

CLAIMS = frozenset(kind for kind in KINDS.values() if kind.of_claim)
QUOTING = frozenset(kind for kind in KINDS.values() if kind.quotes)
