"""How a call arrives over a wire: one file per protocol."""
