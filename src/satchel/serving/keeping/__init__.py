"""Keeping an index fresh while a server runs: what is watched, what an event means, and what is done then."""
