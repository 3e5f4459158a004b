"""Dockerfiles. A stage runs from its FROM to the next one."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="dockerfile",
    suffixes=(".dockerfile", ".containerfile"),
    filenames=("Dockerfile", "dockerfile", "Containerfile", "containerfile"),
    chunker="dockerfile",
    grammar="tree_sitter_dockerfile",
    module_kind=ChunkKind.CONFIG,
    line_comment="#",
    query="""
(from_instruction as: (image_alias) @name) @definition.config
(from_instruction (image_spec) @name !as) @definition.config
(from_instruction (image_spec name: (image_name)) @import)
(copy_instruction (param) @reference.uses (#match? @reference.uses "^--from="))
(mount_param_param) @reference.uses
(comment) @comment
""",
)
