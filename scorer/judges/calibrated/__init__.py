"""The calibrated judge: another judge's p, mapped to how often people agreed with it; learns from human labels."""
