"""Where files come from besides an upload: references to the Hub, and an inbox there."""
