"""Query → hits."""
