"""Is the code graph true? Oracles of four languages, samples of definitions, and the scores of Satchel."""
