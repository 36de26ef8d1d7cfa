"""The states of a submission, by name."""

QUEUED = "queued"
RUNNING = "running"
SCORED = "scored"
FAILED = "failed"

STATES = (QUEUED, RUNNING, SCORED, FAILED)
FINISHED = (SCORED, FAILED)
"""Those in which nothing more happens by itself."""
