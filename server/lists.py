"""What all lists that are read a page at a time have in common."""

MOST = 1_000
"""The most lines that a page holds."""
