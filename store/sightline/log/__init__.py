"""The append-only log: views with their exact text, notes, sessions, and what agents' contexts did."""
