"""Which definition does each use of a name mean? Facts of files in, resolved edges out."""
