"""What speaks for a file: one sort of evidence per file of this folder, each signal with a name."""
