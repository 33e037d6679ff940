"""`sightline doctor`: checks the store and the harnesses, and mends what can be mended."""
