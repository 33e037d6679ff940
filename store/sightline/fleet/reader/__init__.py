"""The shared place that hosts ship to, read as a store. It needs the extra ``fleet``."""
