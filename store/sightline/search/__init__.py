"""The machine's search engines and filters: finds them, keeps them from writing, and runs them."""
