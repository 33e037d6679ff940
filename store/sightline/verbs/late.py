"""Names of the floors below that only some replies need, loaded when the first such reply is made.

A start of ``run -- true`` or ``list`` takes 35 ms. Each line says what loading the name would add to every start.
"""

from sightline.light.late_names import late_names
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.audit.buffer_filter import BufferFilter as BufferFilter
    from sightline.audit.buffer_filter import narrowing as narrowing
    from sightline.audit.buffer_filter import parsed as parsed
    from sightline.capture.background import start_in_background as start_in_background
    from sightline.capture.file import changed_since as changed_since
    from sightline.capture.filters import inner_filter as inner_filter
    from sightline.capture.filters import left_side as left_side
    from sightline.log.notes import hold_waiting as hold_waiting
    from sightline.log.notes import release as release
    from sightline.log.retention import enforce_limits as enforce_limits
    from sightline.search.line_search import search as search
    from sightline.search.matcher import TITLE_CHARACTERS as TITLE_CHARACTERS
    from sightline.search.matcher import ranked as ranked
    from sightline.search.matcher import terms_of as terms_of
    from sightline.search.matcher import title_of as title_of
    from sightline.shape.cut_styles import shape_as as shape_as
    from sightline.shape.failure.examination import Examination as Examination
    from sightline.shape.invisible_characters import fit_to_read as fit_to_read
    from sightline.shape.markers import missing as missing
    from sightline.shape.markers import pasted_path as pasted_path
    from sightline.shape.markers import rewritten_lines as rewritten_lines
    from sightline.shape.memory_stream import BytesSource as BytesSource
    from sightline.shape.repeated_lines import free_spans as free_spans
    from sightline.shape.summary import summary as summary
    from sightline.shape.variants import cleaned as cleaned
    from sightline.shape.variants import cleaned_line as cleaned_line
    from sightline.shape.variants import text_of as text_of
    from sightline.shape.whole_body import SEPARATOR as SEPARATOR
    from sightline.shape.whole_body import whole as whole
    from sightline.shell_words.commands import commands_in as commands_in
    from sightline.verbs.byte_wise import reads_bytes as reads_bytes
    from sightline.verbs.command_forms import OF_ALL as OF_ALL
    from sightline.verbs.command_forms import kind_of as kind_of
    from sightline.verbs.command_forms import read_kinds as read_kinds
    from sightline.verbs.destructive_checks import CHECKS as CHECKS
    from sightline.verbs.pasted_marker import ref_of as ref_of
    from sightline.verbs.pasted_marker import without_marker as without_marker
    from sightline.verbs.structured_view import shape_output as shape_output
    from sightline.verbs.typed_ref import retyped as retyped
    from sightline.verbs.typed_ref import typed_ref as typed_ref
    from sightline.verbs.typed_ref import with_nearest as with_nearest
else:
    __getattr__ = late_names(
        "sightline",
        **{
            "audit.buffer_filter": (
                "BufferFilter",
                "narrowing",
                "parsed",
            ),  # 30 ms: most lists are not narrowed
            "capture.background": ("start_in_background",),  # 5 ms, for subprocess
            "capture.file": ("changed_since",),  # 1 ms: most replies show no file
            "capture.filters": ("inner_filter", "left_side"),  # 4 ms: the lexer of shell text, and its patterns
            "log.notes": ("hold_waiting", "release"),  # 1 ms: few replies have any
            "log.retention": ("enforce_limits",),  # 1 ms
            "search.line_search": ("search",),  # 10 ms, for a wait for a line
            "search.matcher": ("TITLE_CHARACTERS", "ranked", "terms_of", "title_of"),  # most lists are not narrowed
            "shape.cut_styles": ("shape_as",),  # 5 ms: a short output is not cut
            "shape.failure.examination": ("Examination",),  # 12 ms, most of it patterns
            "shape.invisible_characters": ("fit_to_read",),  # its pattern: most texts need none
            "shape.markers": (
                "missing",
                "pasted_path",
                "rewritten_lines",
            ),  # 3 ms of patterns: few outputs are cut or partial
            "shape.memory_stream": ("BytesSource",),
            "shape.repeated_lines": ("free_spans",),  # an output that is not cut has no gaps
            "shape.summary": ("summary",),
            "shape.variants": ("cleaned", "cleaned_line", "text_of"),  # 2 ms, not for views of the default profile
            "shape.whole_body": ("SEPARATOR", "whole"),  # 1 ms: no output, no body
            "shell_words.commands": ("commands_in",),  # 4 ms: few lines have a word of commands that ask back
            "verbs.command_forms": ("OF_ALL", "kind_of", "read_kinds"),  # 3 ms, for the same lines
            "verbs.destructive_checks": ("CHECKS",),
            "verbs.byte_wise": ("reads_bytes",),  # `re`: few queries are of JSON results
            "verbs.structured_view": ("shape_output",),  # 10 ms: a short output needs no shape
            "verbs.typed_ref": ("retyped", "typed_ref", "with_nearest"),  # 4 ms: most refs are right
            "verbs.pasted_marker": ("ref_of", "without_marker"),  # 4 ms, for markers and the log: most refs are typed
        },
    )
