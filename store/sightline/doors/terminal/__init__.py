"""What commands of the terminal are made of: their declaration, their output."""
