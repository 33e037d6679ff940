"""Names of other verbs that only some calls need, loaded by the first of them; `late` has those of the floors below.

Each line says what loading the name would add to every start.
"""

from sightline.light.late_names import late_names
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.verbs.earlier_calls import known_of as known_of
    from sightline.verbs.earlier_calls import past_calls as past_calls
    from sightline.verbs.file_facts import telling_changes as telling_changes
    from sightline.verbs.file_view import Called as Called
    from sightline.verbs.file_view import file_reply as file_reply
    from sightline.verbs.following import wait_for as wait_for
    from sightline.verbs.kill import kill as kill
    from sightline.verbs.kill import order_of as order_of
    from sightline.verbs.line_pieces import open_lines as open_lines
    from sightline.verbs.line_pieces import page_of as page_of
    from sightline.verbs.path_output import path_reply as path_reply
    from sightline.verbs.path_output import pretty_lines as pretty_lines
    from sightline.verbs.path_output import schema_reply as schema_reply
    from sightline.verbs.previous_run import previous_run as previous_run
    from sightline.verbs.query import query_instead as query_instead
    from sightline.verbs.result_view import result_reply as result_reply
    from sightline.verbs.run_comparison import comparison_of_runs as comparison_of_runs
    from sightline.verbs.run_comparison import same_failure as same_failure
    from sightline.verbs.search_output import search_reply as search_reply
    from sightline.verbs.substitution import substitute as substitute
    from sightline.verbs.substitution import substitute_words as substitute_words
    from sightline.verbs.unkept_view import unkept_reply as unkept_reply
    from sightline.verbs.unkept_view import unmade_reply as unmade_reply
else:
    __getattr__ = late_names(
        "sightline.verbs",
        kill=("kill", "order_of"),  # 5 ms
        earlier_calls=("known_of", "past_calls"),  # 15 ms, which a person's list does not need
        file_facts=("telling_changes",),  # command_view has loaded it
        file_view=("Called", "file_reply"),  # 4 ms: most outputs are a command's
        following=("wait_for",),  # 1 ms: few callers wait
        line_pieces=("open_lines", "page_of"),  # 1 ms, which views do not need
        path_output=("path_reply", "pretty_lines", "schema_reply"),  # 15 ms: most outputs are not JSON
        previous_run=("previous_run",),  # a success is not compared
        query=("query_instead",),  # 20 ms, which only a ref needs
        result_view=("result_reply",),  # 20 ms: most outputs are a command's
        run_comparison=("comparison_of_runs", "same_failure"),  # 30 ms
        search_output=("search_reply",),  # 5 ms, for the engines
        substitution=("substitute", "substitute_words"),  # 5 ms, which only a ref needs
        unkept_view=("unkept_reply", "unmade_reply"),  # needed as seldom as a disk is full
    )
