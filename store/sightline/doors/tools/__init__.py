"""The verbs as tools of MCP, for whoever serves them: messages, schemas, calls."""
