"""Names that the inspector loads when a person first asks for them, so that its first screen does not wait."""

from typing import TYPE_CHECKING

from sightline.light.late_names import late_names

if TYPE_CHECKING:
    from sightline_tui.commands import Help as Help
    from sightline_tui.commands import Palette as Palette
    from sightline_tui.commands import actions_of as actions_of
    from sightline_tui.commands import as_looked_for as as_looked_for
    from sightline_tui.commands import help_of as help_of
    from sightline_tui.common.prompt import PROMPTS as PROMPTS
    from sightline_tui.common.prompt import Prompt as Prompt
    from sightline_tui.common.prompt import SearchPrompt as SearchPrompt
    from sightline_tui.first_steps import offer_first_steps as offer_first_steps
    from sightline_tui.project_choice import ProjectChoice as ProjectChoice
else:
    __getattr__ = late_names(
        "sightline_tui",
        **{
            "commands": ("Help", "Palette", "actions_of", "as_looked_for", "help_of"),  # 8 ms
            "common.prompt": ("PROMPTS", "Prompt", "SearchPrompt"),  # 6 ms, with Textual's input
            "first_steps": ("offer_first_steps",),  # 20 ms: most stores hold something
            "project_choice": ("ProjectChoice",),  # 50 ms
        },
    )
