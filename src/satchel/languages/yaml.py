"""YAML, one document or several in a file."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="yaml",
    suffixes=(".yaml", ".yml"),
    filenames=(".clang-format", ".clang-tidy", ".yamllint", "CITATION.cff"),
    chunker="yaml",
    grammar="tree_sitter_yaml",
    module_kind=ChunkKind.CONFIG,
    line_comment="#",
    query="""
(document "---" @leading)
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @definition.config)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node
  (block_mapping (block_mapping_pair key: (_) @name value: (block_node)) @definition.config))))))
(document (block_node (block_sequence (block_sequence_item (block_node
  (block_mapping . (block_mapping_pair key: (_) @_key value: (flow_node) @name))))
  @definition.config)) (#match? @_key "^(name|id)$"))
(comment) @comment
""",
)
