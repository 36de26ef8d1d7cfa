"""Scoring the editing track: sentences, judged snippets, attribution and preservation (RARR, Gao et al. 2023)."""
