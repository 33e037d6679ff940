"""Rules for the output of frob."""
