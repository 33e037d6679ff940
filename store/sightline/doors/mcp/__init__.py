"""The MCP server, over standard input and output or HTTP."""
