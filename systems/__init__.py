"""The reference systems and the runner of teams' models."""
