"""The pages of the leaderboard: templates, controls and callbacks over the pure functions of `leaderboard`."""
