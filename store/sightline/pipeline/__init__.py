"""Read-only questions about stored streams: pipelines of Unix filters, and which lines their answers show."""
