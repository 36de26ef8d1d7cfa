"""How entries and ratings get in: formats, intake, ratings."""
