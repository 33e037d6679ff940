"""Why settings were not changed: one class a meaning. Each is raised before anything has been written."""

from sightline.errors import SightlineError


class SettingsUnreadable(SightlineError):
    """The file, or the way to it, cannot be read: no permission, a loop of links, a folder in its place."""


class SettingsInvalid(SightlineError):
    """The file can be read, but is not what its harness reads: a person must mend it, since we could only guess."""


class SettingsUnexpected(SightlineError):
    """The file is sound, but where ours belongs stands something of another kind."""


class SettingsReadOnly(SightlineError):
    """The file must not be written: it, or its folder, is read-only."""


class SettingsBusy(SightlineError):
    """The file was changed by someone else between our reading and our writing."""


class NotOurs(SightlineError):
    """A file that would be ours whole is there already, and is not ours."""
