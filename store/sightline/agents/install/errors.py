"""Why settings were not changed: one class a meaning. Each is raised before anything has been written."""

from sightline.base.errors import SightlineError


class SettingsUnreadable(SightlineError):
    """The file, or the way to it, cannot be read: no permission, a loop of links, a folder in its place."""


class SettingsInvalid(SightlineError):
    """The file is not in the format that its harness reads; a person must mend it, because we could only guess."""


class SettingsUnexpected(SightlineError):
    """The file is valid, but has a value of another type where our entry belongs."""


class SettingsReadOnly(SightlineError):
    """The file must not be written: it, or its folder, is read-only."""


class SettingsBusy(SightlineError):
    """The file was changed by someone else between our reading and our writing."""


class NotOurs(SightlineError):
    """A file that we would write whole exists already, and we did not write it."""
