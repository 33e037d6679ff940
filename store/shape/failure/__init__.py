"""Which lines of an output say what failed, and what its tool counted; the rules of tools are data."""
