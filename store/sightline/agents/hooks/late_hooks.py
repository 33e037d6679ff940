"""Names from other modules of the hooks that only some events need; each is loaded on first use, as in `late`.

The comment behind a name says what loading it would add to every event.
"""

from sightline.light.late_names import late_names
from sightline.light.typing_names import TYPE_CHECKING

if TYPE_CHECKING:
    from sightline.agents.hooks.background_commands import note_background as note_background
    from sightline.agents.hooks.background_commands import take_in as take_in
    from sightline.agents.hooks.background_commands import take_in_told as take_in_told
    from sightline.agents.hooks.before_tool import before_tool as before_tool
    from sightline.agents.hooks.cancelled_commands import take_in_cancelled as take_in_cancelled
    from sightline.agents.hooks.hook_session import has_notes as has_notes
    from sightline.agents.hooks.hook_session import open_store as open_store
    from sightline.agents.hooks.hook_session import session_of as session_of
    from sightline.agents.hooks.hook_session import taking_in as taking_in
    from sightline.agents.hooks.hook_session import wait_until_in as wait_until_in
    from sightline.agents.hooks.hook_session import waiting_notes as waiting_notes
    from sightline.agents.hooks.kept_list import keep_list as keep_list
    from sightline.agents.hooks.kept_list import keep_untold as keep_untold
    from sightline.agents.hooks.live_calls import at_end as at_end
    from sightline.agents.hooks.live_calls import at_prompt as at_prompt
    from sightline.agents.hooks.live_calls import at_start as at_start
    from sightline.agents.hooks.live_calls import live_call as live_call
    from sightline.agents.hooks.other_hooks import stop_rewriting as stop_rewriting
    from sightline.agents.hooks.process_apart import continue_apart as continue_apart
    from sightline.agents.hooks.recorded_tasks import have_recorded as have_recorded
    from sightline.agents.hooks.recorded_tasks import take_recorded as take_recorded
    from sightline.agents.hooks.view_instead import replaced as replaced
else:
    __getattr__ = late_names(
        "sightline.agents.hooks",
        background_commands=(
            "note_background",
            "take_in",
            "take_in_told",
        ),  # 20 ms: few commands go on, and few prompts tell of an end
        before_tool=("before_tool",),  # 5 ms
        cancelled_commands=("take_in_cancelled",),  # 30 ms: few commands are broken off
        hook_session=(
            "has_notes",
            "open_store",
            "session_of",
            "taking_in",
            "wait_until_in",
            "waiting_notes",
        ),  # 20 ms, for the store
        kept_list=("keep_list", "keep_untold"),  # 20 ms: few commands are lists of several programs
        live_calls=("at_end", "at_prompt", "at_start", "live_call"),  # 30 ms, of two harnesses only
        other_hooks=("stop_rewriting",),  # few commands are changed by others
        process_apart=("continue_apart",),  # few events have nothing to say
        recorded_tasks=("have_recorded", "take_recorded"),  # commands of one harness only
        view_instead=("replaced",),  # 20 ms, of mode `shape` only
    )
