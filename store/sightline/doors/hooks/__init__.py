"""The place that settings written by 0.2.0 name; hooks themselves lie in `agents`."""
