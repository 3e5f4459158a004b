"""Which documents and places does a reStructuredText document link to?

Roles (`:doc:`, `:ref:`, `:download:`), included files, the entries of a table of contents, and named
addresses inside the repository. Code samples hold no links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from satchel.types import Label, Reference

_CODE_DIRECTIVES = "code|code-block|sourcecode|parsed-literal|raw|math|prompt|doctest|testcode|productionlist"
_LITERAL = re.compile(rf"\s*\.\. (?:{_CODE_DIRECTIVES})::|(?!\s*\.\. ).*::\s*$")
_TOCTREE = re.compile(r"\s*\.\. toctree::")
_ENTRY = re.compile(r"\s+(?!:)(?:[^<]*<([^<>]+)>|(\S+))\s*$")
_LINK = re.compile(
    r"^\s*\.\. (?:include|literalinclude)::\s+(?P<file>\S+)"
    r"|:(?:doc|ref|download):`(?:[^`<]*<(?P<named>[^<>`]+)>|!?(?P<plain>[^`<>]+))`"
    r"|(?<!:)`[^`<]*<(?P<address>[^<>`\s]*[^<>`\s_])>`__?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")  # another site, a mail address, a mere anchor


def literal_blocks(lines: Sequence[str]) -> dict[int, int]:
    """First line → last line of each code sample, from 1: what is indented below `::`."""
    blocks: dict[int, int] = {}
    margin = -1  # the indent of the line that opened a sample
    first = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        indent = _indent(line)
        if indent > margin >= 0:
            first = first or number
            blocks[first] = number
            continue
        margin = indent if "::" in line and _LITERAL.match(line) else -1
        first = 0
    return blocks


def find_links(lines: Sequence[str], literals: Mapping[int, int]) -> Iterator[Reference]:
    """The links of a document, by line; `literals` are its code samples."""
    skipped_to = 0
    entries_margin = -1  # the indent of the table of contents whose entries are being read
    for number, line in enumerate(lines, start=1):
        skipped_to = literals.get(number, skipped_to)
        if number <= skipped_to or not line.strip():
            continue
        if _indent(line) > entries_margin >= 0:
            entry = _ENTRY.match(line)
            targets = [entry[1] or entry[2]] if entry else []
        elif "`" not in line and "::" not in line:
            entries_margin = -1
            continue
        else:
            entries_margin = _indent(line) if _TOCTREE.match(line) else -1
            targets = [match[match.lastgroup or 0] for match in _LINK.finditer(line)]
        for target in dict.fromkeys(targets):
            if target.strip() not in ("", "self") and not _SCHEME.match(target):
                yield Reference(target.strip(), Label.LINKS_TO, number)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
