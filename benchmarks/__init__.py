"""Measurements beside the natural floor and beside peers, each as a ratio within one run. Nothing here is a test."""
