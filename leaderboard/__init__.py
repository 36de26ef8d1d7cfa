"""What people look at: tables, plots, comparisons."""
