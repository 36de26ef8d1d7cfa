"""Statistics over plain arrays, from intervals to agreement; no database, no web."""
