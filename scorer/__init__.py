"""Metrics, judges, statistics and evaluation."""
