"""Sessions whose truth is known: what their agents ran, edited, forgot and claimed, and what is to be found of it."""
