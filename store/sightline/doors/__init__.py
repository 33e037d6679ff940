"""The ways in: command line, MCP server, proxy, hooks of harnesses. They read what is asked, and call a verb."""
