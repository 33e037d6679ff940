"""Rules for the output of frob, and the harness of its agent."""
