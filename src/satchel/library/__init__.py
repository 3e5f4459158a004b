"""Many repositories as one: which they are, where they come from, and one index made of all of theirs."""
