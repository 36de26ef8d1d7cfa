"""Training scripts for the paper's fine-tuned parts."""
