"""Text → vector: a table of word vectors, and how the words of a unit become one vector."""
