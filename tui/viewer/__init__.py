"""The viewer: one output, with what is selected, looked for, failed and seen in it."""
