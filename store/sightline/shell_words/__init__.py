"""Reads shell text: its words, its pipelines, and the programs that it runs."""

LONGEST_COMMAND = (128 << 10) - 1
"""Characters of a command, an argument of ``sh -c``: Linux starts no program with a longer one (MAX_ARG_STRLEN)."""
