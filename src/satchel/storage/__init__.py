"""Where an index lives."""
