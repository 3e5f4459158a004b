"""From a folder, or a git ref, to sources: which files belong to a segment, read safely and decoded exactly.

`walker` lists and reads, `reader` turns bytes into a `Source`. Everything that is left out is
reported with its reason; no path outside the root is ever opened.
"""
