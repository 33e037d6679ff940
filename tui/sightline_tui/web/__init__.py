"""The inspector in a browser."""
