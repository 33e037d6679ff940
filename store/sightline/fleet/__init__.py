"""Ships a store to PostgreSQL and an object store, for many machines. All but this module needs the extra ``fleet``."""

from sightline.base.distribution import install_extra
from sightline.base.errors import SightlineError


class ExtraMissing(SightlineError):
    """The clients of the database and the object store are not installed."""

    def __init__(self, missing: ImportError) -> None:
        super().__init__(f"this needs what is not installed: {missing}", install_extra("fleet"))
