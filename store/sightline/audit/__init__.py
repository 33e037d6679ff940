"""What the log tells afterwards: which lines were seen, what failed unseen, what happened in a session, and when."""
