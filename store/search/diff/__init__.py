"""Two streams compared, line by line and word by word."""
