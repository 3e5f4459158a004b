"""reStructuredText: read by its own line state machine."""

from satchel.languages.language import Language
from satchel.types import ChunkKind

LANGUAGE = Language(
    name="rst",
    suffixes=(".rst", ".rest"),
    claims=((".txt", r"^\.\. [\w-]+:: |^\.\. _[\w -]+:|:(?:ref|doc|class|func|meth|mod|setting):`"),),
    chunker="rst",
    module_kind=ChunkKind.SECTION,
    prose=True,
    index_stems=("README", "index"),
)
