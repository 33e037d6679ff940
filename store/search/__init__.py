"""The search engines and filters of the machine: where they lie, what holds them to reading, how they are run."""
