"""The styles in which a widget draws its parts, looked up once and kept until they change."""

from typing import Any, ClassVar

from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from sightline_tui.common.strips import PartStyles
from sightline_tui.common.textual_internals import PartsOnDemand


class KeptStyles(PartsOnDemand):
    """A mixin for widgets that look up styles while drawing, because Textual forgets them at each refresh."""

    _kept: dict[tuple[str, ...], tuple[Style, Style]] | None = None

    def get_component_rich_style(self, *names: str, partial: bool = False, default: Style | None = None) -> Style:
        """Return the style as Textual does, but keep it until styles change."""
        if self._kept is None:
            self._kept = {}
        if names not in self._kept:
            if default is not None:
                return super().get_component_rich_style(*names, partial=partial, default=default)
            whole = super().get_component_rich_style(*names)
            self._kept[names] = whole, super().get_component_rich_style(*names, partial=True)
        return self._kept[names][partial]

    def notify_style_update(self) -> None:
        """Forget the styles, because the theme or the focus has changed."""
        super().notify_style_update()
        self._kept = None


class Styled(KeptStyles):
    """A mixin for a widget that draws its own rows; its parts' component classes are ``PREFIX--PART``."""

    PREFIX: ClassVar[str]
    PARTS: ClassVar[tuple[str, ...]]

    _own_style: Style | None = None
    _part_styles: PartStyles | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the component classes of parts that a class lists."""
        if "PARTS" in vars(cls) and "COMPONENT_CLASSES" not in vars(cls):
            cls.COMPONENT_CLASSES = {f"{cls.PREFIX}--{part}" for part in cls.PARTS}
        super().__init_subclass__(**options)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the rows; they are blank if the widget was just removed, and its styles with it."""
        return super().render_lines(crop) if self.parent is not None else [Strip.blank(crop.width)] * crop.height

    @property
    def own_style(self) -> Style:
        """The widget's own style. To work it out for each row took a third of the first screen's time."""
        if self._own_style is None:
            self._own_style = self.rich_style
        return self._own_style

    @property
    def part_styles(self) -> PartStyles:
        """Styles by part, without a background unless they set one. Textual takes long to find each."""
        if self._part_styles is None:
            self._part_styles = PartStyles(self._style_of)
        return self._part_styles

    def part_style(self, part: str) -> Style:
        """Return the style of a part."""
        return self.part_styles[part]

    def _style_of(self, part: str) -> Style | None:
        return self._part_style(f"{self.PREFIX}--{part}") if part in self.PARTS else None

    def _part_style(self, component: str) -> Style:
        own = self.get_component_rich_style(component, partial=True)
        # A colour that is a share of another one is blended with the widget's background.
        return own + Style(color=self.get_component_rich_style(component).color)

    def notify_style_update(self) -> None:
        """Forget the styles."""
        super().notify_style_update()
        self._own_style = self._part_styles = None
