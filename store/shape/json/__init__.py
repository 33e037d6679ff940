"""JSON that knows its places: read in pieces, sampled, described, asked by a path."""
