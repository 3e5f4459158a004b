"""How an answer looks."""
