"""The frozen corpus holds tests of its own, which are there to be searched, not to be run."""

collect_ignore = ["corpus"]
