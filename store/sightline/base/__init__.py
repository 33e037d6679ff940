"""Words, names and limits that every room knows."""
