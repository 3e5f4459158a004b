"""The agent clients that Satchel can be installed in: one file each."""
