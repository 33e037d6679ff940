"""What is taken for a secret, and how it is hidden in a stream before anything is written."""
