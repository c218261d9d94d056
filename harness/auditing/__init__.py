"""Looking through what was recorded, by rule and without a model."""
