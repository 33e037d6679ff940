"""Sessions of before, and transcripts of those that go on, taken into the store."""
