"""Side-by-side performance scripts: `python -m benchmarks.NAME --json`."""
