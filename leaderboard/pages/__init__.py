"""The leaderboard's pages in Gradio: a thin shell over the pure functions beside this package."""

PAGES = {
    "": "Board",
    "correlations": "Correlations",
    "compare": "Compare",
    "examples": "Examples",
    "system": "System",
    "history": "History",
    "editing": "Editing",
    "editing-compare": "Compare edits",
    "editing-passages": "Passages",
}
"""Path under /leaderboard/ → the page's name, as tabs and the navigation say it."""

SITE = "AQA Leaderboard"
