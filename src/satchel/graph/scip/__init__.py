"""How an index that a compiler's own indexer wrote (SCIP) becomes further edges."""
