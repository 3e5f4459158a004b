"""Keep an index fresh while a server runs: file system events in, refreshes of the index out."""
