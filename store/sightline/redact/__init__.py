"""Recognises secrets, and hides them in a stream before anything is written."""
