"""Compares two streams, line by line and word by word."""
