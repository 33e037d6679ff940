"""What several features of the inspector draw with, read through, and send to each other."""
