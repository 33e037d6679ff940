"""How bytes get in: of commands, files and results of tools, whole and as they come."""
