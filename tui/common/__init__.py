"""What several features of the inspector draw with, read by and tell each other."""
