"""Writes Sightline into the settings of harnesses, and takes it out again."""
