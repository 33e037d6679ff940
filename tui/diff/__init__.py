"""What the diff screen is made of that is no widget: its rows, their drawing, the comparing."""
