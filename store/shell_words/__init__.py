"""Reads shell text: its words, its pipelines, and the programs that it runs."""
