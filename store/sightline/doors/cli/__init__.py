"""The command line: a module for each command, loaded when that one is called."""
