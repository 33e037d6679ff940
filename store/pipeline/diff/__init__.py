"""Comparing two outputs line by line: hunks for a screen, of outputs of any size, in bounded memory."""
