"""What in a session's log supports, or contradicts, what its agent claims of its work."""
