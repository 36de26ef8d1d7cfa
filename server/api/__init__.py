"""API v1: one blueprint per subject."""
