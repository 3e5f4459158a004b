"""How a call arrives."""
