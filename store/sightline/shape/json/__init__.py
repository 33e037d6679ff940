"""JSON with places: reads it in pieces, samples it, describes it, and finds a value by its path."""
