"""What the inspector shows of the audit of one output: pure models, and the reads that fill them."""
