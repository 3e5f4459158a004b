"""The projects hold tests of their own, which are there to be searched, not to be run."""

collect_ignore = ["projects"]
