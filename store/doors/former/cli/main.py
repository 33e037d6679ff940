"""Keeps the MCP server running that 0.1.0 wrote into settings: ``-m sightline.store.doors.cli.main mcp``."""

from sightline.doors.cli.main import main

if __name__ == "__main__":
    main()
