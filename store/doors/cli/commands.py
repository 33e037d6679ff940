"""Which commands there are, by who asks; the module of each is imported when it is called."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

GROUPS = {
    "Run and keep, as agents do": {
        "run": ("run", "run a command, keep its whole output and print a view of it"),
        "capture": ("capture", "keep what comes through a pipe"),
        "read": ("read", "read a file and keep the version that was read"),
        "kill": ("kill", "end commands that run"),
    },
    "Look, as agents do and people beside them": {
        "list": ("list", "list what was captured, most recently used first"),
        "show": ("show", "show an output, or lines, bytes, matches, a JSON value of it"),
        "query": ("query", "ask with grep, sort, jq and the like, read-only"),
        "diff": ("diff", "compare two outputs"),
        "path": ("path", "print the path of an output's file, for any other program"),
        "note": ("note", "remark on lines, and send the remark to an agent"),
        "notes": ("note.list_all", "list the remarks"),
        "serve": ("serve", "open the inspector in a browser"),
        "demo": ("demo", "make a store with examples and open the inspector on it"),
    },
    "Audit what an agent saw": {
        "brief": ("brief", "tell on one screen what was run and what was missed"),
        "audit": ("audit", "find what went wrong without being seen; can fail a build"),
        "coverage": ("coverage", "tell which lines of an output were shown, and which never were"),
        "timeline": ("timeline", "list what was asked and shown, call by call"),
        "views": ("views", "list what was shown, to whom and when"),
        "views show": ("views.show", "print the exact text that was shown"),
        "sessions": ("sessions", "list who asked"),
        "sessions rename": ("sessions.rename", "give a session a name of your own"),
        "sessions rm": ("sessions.rm", "remove what a session captured and was shown"),
        "report": ("report", "write a session up as one page"),
    },
    "Connect agents": {
        "install": ("install", "add the MCP server and the hooks to an agent's harness"),
        "uninstall": ("install.take_out", "remove both again and restore its settings"),
        "import": ("import_sessions", "bring in past sessions of agents from their transcripts"),
        "mcp": ("mcp", "serve an agent's client over MCP"),
        "proxy": ("proxy", "stand in front of another MCP server and keep its large results"),
        "hook": ("hook", "answer an event of a harness; its settings call this"),
    },
    "Care for the store": {
        "completions": ("completion", "have your shell complete commands, refs and sessions at Tab"),
        "man": ("man", "print the manual page"),
        "doctor": ("doctor", "check the store and the harnesses, and mend what can be mended"),
        "rules": ("rules", "list the tools whose output is known"),
        "rules try": ("rules.try_output", "show how an output is read, and by which rule"),
        "rules new": ("rules.new", "start a rule for a tool of yours from an output"),
        "pin": ("retention.pin", "keep an output whatever the limits are"),
        "unpin": ("retention.unpin", "let the limits remove it again"),
        "rm": ("retention.rm", "remove outputs"),
        "gc": ("retention.gc", "apply the limits now"),
    },
    "Ship to a place that many machines share": {
        "ship": ("ship", "copy what is done to the fleet"),
        "fleet": ("fleet.status", "list the machines of a fleet, and how far behind each is"),
        "fleet status": ("fleet.status", "the same"),
        "fleet init": ("fleet.init", "make a fleet in a database, or bring it to this version"),
        "fleet add-host": ("fleet.add_host", "make a role under which a machine, or CI, ships"),
        "fleet grant": ("fleet.grant", "let somebody read what a team or an owner has"),
        "fleet retention": ("fleet.retention", "set how many days a fleet keeps"),
        "fleet maintain": ("fleet.maintain_it", "make partitions ahead and drop old ones; once a day"),
        "fleet verify": ("fleet.verify", "prove that all that was announced is there"),
    },
}
"""By who asks: of each command the module beside this one, with the function where it is not `main`, and a sentence."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def command_of(name: str) -> "tuple[ArgumentParser, Callable[[Namespace], int]]":
    """What a command takes, and what runs it; its module is imported."""
    module, _, function = COMMANDS[name][0].partition(".")
    command = __import__(f"sightline.doors.cli.{module}", fromlist=["main"])
    return command.parser(name), getattr(command, function or "main")
