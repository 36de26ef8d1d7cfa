"""The demo benchmark: its data and the procedures that made it."""
