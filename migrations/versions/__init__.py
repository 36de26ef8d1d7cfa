"""Revisions of the database."""
