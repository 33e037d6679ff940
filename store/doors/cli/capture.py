"""``sightline capture``: what comes through a pipe is kept; what a hook has put into a command starts fast."""


def main(name: str, words: list[str]) -> int:
    """Run the command line; its exit code."""
    if len(words) == 2 and words[0] == "--hook":
        from sightline.doors.hooks.capture_pipe import main as keep

        return keep(words[1])
    from sightline.doors.cli.capture_input import main as capture

    return capture(name, words)
