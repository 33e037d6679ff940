"""Writes the unit that keeps a shipper running on a host: a user unit of systemd, or an agent of launchd."""

import os
import sys
from xml.sax.saxutils import escape

_SYSTEMD = """\
# {path}
# then: systemctl --user daemon-reload && systemctl --user enable --now sightline-ship
# and, to ship while nobody is logged in: loginctl enable-linger
[Unit]
Description=Ship what Sightline keeps to the fleet

[Service]
ExecStart={command}
Environment={home}
{key_file}Restart=on-failure
RestartSec=60
Nice=10
MemoryMax=200M
NoNewPrivileges=true

[Install]
WantedBy=default.target
"""

_LAUNCHD = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- {path}
     then: launchctl bootstrap gui/$(id -u) {path} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>sightline-ship</string>
  <key>ProgramArguments</key>
  <array>{words}</array>
  <key>EnvironmentVariables</key>
  <dict><key>SIGHTLINE_HOME</key><string>{home}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Background</string>
  <key>ThrottleInterval</key><integer>60</integer>
</dict>
</plist>
"""


def unit(root: str, platform: str = sys.platform) -> str:
    """Return the text of a unit for a store. It has no password; keys come from files that it names.

    Args:
        root: folder of the store.
        platform: name of the platform, from `sys.platform`.
    """
    words = [sys.executable, "-m", "sightline.doors.cli.main", "ship", "--follow"]
    if platform == "darwin":
        return _LAUNCHD.format(
            path="~/Library/LaunchAgents/sightline-ship.plist",
            words="".join(f"<string>{escape(word)}</string>" for word in words),
            home=escape(root),
        )
    keys = os.path.join("%h", ".config", "sightline", "ship.env")
    return _SYSTEMD.format(
        path="~/.config/systemd/user/sightline-ship.service",
        command=" ".join(_quoted(word).replace("$", "$$") for word in words),  # only there does $ begin a variable
        home=_quoted(f"SIGHTLINE_HOME={root}"),
        key_file=f"EnvironmentFile=-{keys}\n",
    )


def _quoted(word: str) -> str:
    """Quote a word for a unit's file."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
