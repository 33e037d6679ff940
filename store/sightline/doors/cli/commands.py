"""The table of commands, grouped by who asks; the module of each is imported only when the command is called."""

from sightline.light.typing_names import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from sightline.doors.terminal.arguments import CommandParser, Namespace

GROUPS = {
    "Run and keep, as agents do": {
        "run": ("run", "run a command, keep its whole output and print a view of it"),
        "capture": ("capture", "keep what comes in through a pipe"),
        "read": ("read", "read a file and keep the version that was read"),
        "kill": ("kill", "end commands that are still running"),
    },
    "Look at what was kept, as agents and people do": {
        "list": ("list", "list what was captured, the most recently used first"),
        "show": ("show", "show an output, or a part of it: lines, bytes, matches, a JSON value"),
        "grep": ("grep", "find lines in many outputs"),
        "query": ("query", "ask outputs with grep, sort, jq and the like, without changing anything"),
        "diff": ("diff", "compare two outputs"),
        "path": ("path", "print the path of an output's file, so that any program can read it"),
        "note": ("note", "write a remark on lines of an output, and send it to an agent"),
        "notes": ("note.list_all", "list the remarks that were written"),
        "serve": ("serve", "open the inspector in a browser"),
        "demo": ("demo", "make a store with examples, and open the inspector on it"),
    },
    "Audit what an agent saw": {
        "brief": ("brief", "show on one screen what was run and what no agent saw"),
        "audit": ("audit", "find failures that no agent saw, and let a build fail for them"),
        "evidence": ("evidence", "hold what agents claim against what they ran, edited and saw"),
        "coverage": ("coverage", "show which lines of an output agents saw, and which they never did"),
        "timeline": ("timeline", "list the calls of agents: what each asked, and what it was shown"),
        "cost": ("cost", "show what requests to models took, in tokens and at list price"),
        "views": ("views", "list the replies: what was shown, to whom and when"),
        "views show": ("shown_text", "print the exact text of a reply"),
        "sessions": ("sessions", "list the sessions of agents and people"),
        "sessions rename": ("sessions.rename", "give a session another name"),
        "sessions rm": ("sessions.rm", "remove what a session captured, and blank what it was shown"),
        "report": ("report", "write all of this about a session onto one page"),
        "export": ("export", "give a session's calls to other tools, as spans of OpenTelemetry"),
    },
    "Connect agents": {
        "install": ("install", "add the MCP server and the hooks to an agent's harness"),
        "uninstall": ("install.take_out", "remove them from its settings again"),
        "import": ("import_sessions", "read past sessions of agents from their transcripts"),
        "mcp": ("mcp/command", "serve the agent's tools over MCP"),
        "proxy": ("proxy/command", "stand in front of another MCP server and keep its large results"),
        "hook": ("hook", "answer an event of a harness, whose settings call this"),
    },
    "Care for the store": {
        "completions": ("completion", "print a script that lets your shell complete commands, refs and sessions"),
        "man": ("man", "print the manual page"),
        "doctor": ("doctor/command", "check the store and the harnesses, and mend what can be mended"),
        "rules": ("rules", "list the tools whose output Sightline can read"),
        "rules try": ("rules.try_output", "show how an output is read, and by which rules"),
        "rules new": ("rules.new", "start a rule for a tool of yours, from one of its outputs"),
        "pin": ("retention.pin", "protect an output from the store's limits"),
        "unpin": ("retention.unpin", "let the limits remove an output again"),
        "rm": ("retention.rm", "remove outputs"),
        "secrets": ("secrets", "find secrets in what is stored, and purge them"),
        "gc": ("retention.gc", "apply the store's limits now"),
    },
    "Ship to a place that many machines share": {
        "ship": ("fleet/ship", "copy what this machine captured to the fleet"),
        "fleet": ("fleet/administration.status", "list the machines of a fleet, and how far behind each one is"),
        "fleet status": ("fleet/administration.status", "do the same as `sightline fleet`"),
        "fleet init": ("fleet/administration.init", "set up a fleet in a database, or upgrade one to this version"),
        "fleet add-host": ("fleet/administration.add_host", "make a role of the database for a machine, or for CI"),
        "fleet join": ("fleet/join", "join a fleet with the line of `sightline fleet add-host`"),
        "fleet grant": ("fleet/administration.grant", "let somebody read the outputs of a team or of an owner"),
        "fleet retention": ("fleet/administration.retention", "set how many days a fleet keeps outputs"),
        "fleet maintain": ("fleet/administration.maintain_it", "make partitions ahead and drop old ones, once a day"),
        "fleet watch": ("fleet/watch", "send what goes wrong on any machine to a webhook or a command, once"),
        "fleet verify": (
            "fleet/administration.verify",
            "check that everything that the database lists is in the object store",
        ),
    },
}
"""The groups. Each command has its module, its function unless that is `main`, and a sentence.

The module lies beside this one, or in another door, which then stands before a slash.
"""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


def command_of(name: str) -> "tuple[CommandParser, Callable[[Namespace], int]]":
    """Import a command's module, and return its parser and the function that runs it."""
    place, _, function = COMMANDS[name][0].partition(".")
    door, _, module = place.rpartition("/")
    command = __import__(f"sightline.doors.{door or 'cli'}.{module}", fromlist=["main"])
    parser = command.parser(name)
    parser.commands = {one: about for one, (_, about) in COMMANDS.items() if one.startswith(f"{name} ")}
    return parser, getattr(command, function or "main")
