"""Mistral Vibe, added to Sightline from another package."""
