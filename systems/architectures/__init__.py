"""One module per architecture of AQA §4."""
