"""The commands of a fleet: shipping to it, and administering it. No other door knows the fleet."""
