"""What a person has set, and what a person or another package adds."""
