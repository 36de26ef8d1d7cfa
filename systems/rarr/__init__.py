"""Editing for attribution (RARR, Gao et al. 2023): research a text, then revise what the evidence contradicts."""
