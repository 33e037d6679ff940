"""Names from the floors below that only some events need; each is loaded on first use, to keep the others fast."""

from sightline.light.late_names import late_names
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.agents.past_sessions.shown_lines import shown_lines as shown_lines
    from sightline.audit.evidence.evidence_records import CONTRADICTED as CONTRADICTED
    from sightline.audit.evidence.evidence_records import STALE as STALE
    from sightline.audit.evidence.session_evidence import evidence_of as evidence_of
    from sightline.audit.evidence.session_evidence import forgotten_failures as forgotten_failures
    from sightline.audit.quoted_lines import has_long_lines as has_long_lines
    from sightline.capture.file import FileNotReadable as FileNotReadable
    from sightline.capture.file import capture_file as capture_file
    from sightline.capture.filters import unseen_input as unseen_input
    from sightline.capture.result import ResultBlock as ResultBlock
    from sightline.capture.result import capture_result as capture_result
    from sightline.harnesses.file_changes import files_changed as files_changed
    from sightline.log.notes import hold_waiting as hold_waiting
    from sightline.log.notes import release as release
    from sightline.log.retention import enforce_limits as enforce_limits
    from sightline.log.retention import remove as remove
    from sightline.log.view_text import view_text as view_text
    from sightline.verbs.result_view import result_reply as result_reply
else:
    __getattr__ = late_names(
        "sightline",
        **{
            "audit.evidence.evidence_records": ("CONTRADICTED", "STALE"),  # if asked for
            "audit.evidence.session_evidence": ("evidence_of", "forgotten_failures"),  # likewise
            "audit.quoted_lines": ("has_long_lines",),  # few calls are of files
            "capture.file": ("FileNotReadable", "capture_file"),  # likewise
            "capture.filters": ("unseen_input",),  # few commands have filters
            "capture.result": ("ResultBlock", "capture_result"),  # few are of other tools
            "harnesses.file_changes": ("files_changed",),  # few calls are edits
            "agents.past_sessions.shown_lines": ("shown_lines",),  # few results are shown other than they are
            "log.notes": ("hold_waiting", "release"),  # few sessions have notes that wait
            "log.retention": ("enforce_limits", "remove"),  # few stores are full, few lists change
            "log.view_text": ("view_text",),  # few views are our own
            "verbs.result_view": ("result_reply",),  # few modes show views
        },
    )
