"""Getting real benchmarks over the network."""
