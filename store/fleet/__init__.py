"""Beyond one machine: shipping to PostgreSQL and an object store. Whatever loads the rest needs the extra ``fleet``."""

from sightline.errors import SightlineError


class ExtraMissing(SightlineError):
    """The clients of the database and the object store are not installed."""

    def __init__(self, missing: ImportError) -> None:
        super().__init__(
            f"this needs what is not installed: {missing}", "install it: `python -m pip install 'sightline[fleet]'`"
        )
