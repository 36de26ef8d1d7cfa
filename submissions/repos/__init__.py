"""Small git-like repositories of a team's files: a line of commits over content-addressed blobs."""
