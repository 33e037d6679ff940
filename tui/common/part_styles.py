"""The styles that a widget draws its parts in, looked up once and kept until they change."""

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from sightline.tui.common.strips import PartStyles

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    Widget = object  # Textual takes a class' first base for the one whose CSS it inherits: this must not be that


class KeptStyles(Widget):
    """To be mixed in before a widget that looks styles up while it draws: Textual forgets them with each refresh."""

    _kept: dict[tuple[str, ...], tuple[Style, Style]] | None = None

    def get_component_rich_style(self, *names: str, partial: bool = False, default: Style | None = None) -> Style:
        """As Textual has it, but kept until styles change."""
        if self._kept is None:
            self._kept = {}
        if names not in self._kept:
            if default is not None:
                return super().get_component_rich_style(*names, partial=partial, default=default)
            whole = super().get_component_rich_style(*names)
            self._kept[names] = whole, super().get_component_rich_style(*names, partial=True)
        return self._kept[names][partial]

    def notify_style_update(self) -> None:
        """Look them up again: the theme or the focus has changed."""
        super().notify_style_update()
        self._kept = None


class Styled(KeptStyles):
    """To be mixed in before a widget that draws its own rows; its parts' component classes are ``PREFIX--PART``."""

    PREFIX: ClassVar[str]
    PARTS: ClassVar[tuple[str, ...]]

    _own_style: Style | None = None
    _part_styles: PartStyles | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Its rows; blank ones where it has just been taken away, its styles with it, and the screen is still drawn."""
        return super().render_lines(crop) if self.parent is not None else [Strip.blank(crop.width)] * crop.height

    @property
    def own_style(self) -> Style:
        """The widget's own style. Working it out for each row anew took a third of the first screen's time."""
        if self._own_style is None:
            self._own_style = self.rich_style
        return self._own_style

    @property
    def part_styles(self) -> PartStyles:
        """Styles by part, without a background unless they set one."""
        if self._part_styles is None:
            self._part_styles = PartStyles({part: self._part_style(f"{self.PREFIX}--{part}") for part in self.PARTS})
        return self._part_styles

    def part_style(self, part: str) -> Style:
        """The style of a part that is seldom needed: not among PARTS, and looked up when it first is."""
        styles = self.part_styles
        if part not in styles:
            styles[part] = self._part_style(f"{self.PREFIX}--{part}")
        return styles[part]

    def _part_style(self, component: str) -> Style:
        own = self.get_component_rich_style(component, partial=True)
        # The colour as it comes out on the widget's background, where it is given as a share of another.
        return own + Style(color=self.get_component_rich_style(component).color)

    def notify_style_update(self) -> None:
        """Look them up again."""
        super().notify_style_update()
        self._own_style = self._part_styles = None
