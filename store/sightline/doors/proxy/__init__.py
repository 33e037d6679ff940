"""Stands before MCP servers of others: keeps what their tools return, and passes on what fits a context."""
