"""Takes past sessions, and transcripts of running ones, into the store."""
