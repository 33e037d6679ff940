"""Read-only questions to stored streams: pipelines of Unix filters, searches, and which lines they showed."""
