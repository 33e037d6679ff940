"""Stand-ins for parts of the standard library, which load in a fraction of its time while a process starts."""
