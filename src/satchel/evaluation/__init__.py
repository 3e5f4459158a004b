"""How good are the answers? Questions with known answers, asked of an index and scored."""
