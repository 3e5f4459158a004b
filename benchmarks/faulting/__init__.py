"""The parts of `benchmarks/faults.py`: each breaks one thing and compares answers with the disk."""
