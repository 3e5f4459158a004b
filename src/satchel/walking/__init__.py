"""From a folder or a git ref to sources: which files belong to a segment, read safely and decoded exactly.

`work_tree` and `git_trees` list and read files, `file_filter` and `ignore_rules` decide which of them belong,
and `source_reader` turns bytes into a `Source`. Every file that is left out is reported with its reason. No
path outside the root is ever opened.
"""
