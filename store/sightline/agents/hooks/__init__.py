"""What harnesses start at each event of their own tools."""
