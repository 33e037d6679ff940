"""Finds the lines of an output that say what failed, and what its tool counted; the rules of tools are data."""
