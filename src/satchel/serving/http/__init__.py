"""How calls arrive by HTTP."""
