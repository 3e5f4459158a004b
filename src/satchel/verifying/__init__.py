"""A pack → are its citations still true, and the pack as it would cite them now."""
