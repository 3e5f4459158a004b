"""The verbs: one file per command, written once, on every surface."""
