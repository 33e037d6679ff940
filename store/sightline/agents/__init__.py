"""How agents of other harnesses reach the store: hooks, their installation, past sessions."""
