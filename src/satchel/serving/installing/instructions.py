"""The instructions for agents, and how they are added to a file that others write in too."""

from __future__ import annotations

from satchel.errors import ConfigError
from satchel.serving.installing.file_edits import EditTrace, append_paragraph, remove_paragraph

BEGIN, END = "<!-- satchel:begin -->", "<!-- satchel:end -->"
_DESCRIPTION = (
    "Find and cite code and documents of this repository with the satchel tools. Use before grep or reading"
    " whole files: where something is defined, who uses it, how a part works, what a change touches."
)
SKILL_HEAD = f"---\nname: satchel\ndescription: {_DESCRIPTION!r}\n---\n\n"
RULE_HEAD = f"---\ndescription: {_DESCRIPTION!r}\nglobs:\nalwaysApply: true\n---\n\n"
INSTRUCTIONS_HEAD = f'---\ndescription: {_DESCRIPTION!r}\napplyTo: "**"\n---\n\n'
_INSTRUCTIONS = """\
# Satchel: cited context of this repository

The satchel tools answer from an index of this repository that is kept fresh. Ask them first;
use grep only for an exact text that they did not find, and read a whole file only to edit it.

1. **search**: where is it? Ask with a sentence or a name; narrow with a path prefix or a language.
   `symbols` and `references` tell what a name is and who uses it, `map` shows an unknown repository.
2. **pack**: `context_pack` for a question, `build_context_pack` before a change: each gathers
   definitions, usages, tests, settings and documents, within a budget of tokens.
   Start with 4000 tokens; ask again with a narrower question rather than with a larger budget.
3. **cite**: every piece has an id, a path and its lines. Say `path:start-end` for what you claim,
   and claim nothing about code that you have not been shown.
4. **get**: fetch the exact text by id or `path:start:end` before you change it; `skeleton` shows a
   long file as its signatures.

When an answer says that it is stale, partial or empty, believe it: follow its suggestions.
After edits, `satchel verify PACK` tells which citations still hold.
Without the tools, the same words work in a shell: `satchel search "…"`, `satchel pack "…"`,
`satchel get ID`.
"""
BLOCK = f"{BEGIN}\n{_INSTRUCTIONS}{END}\n"


def find_block(data: bytes) -> bytes | None:
    """Return the block of instructions in a file, as it is written there; None if there is none."""
    found = _block_range(data)
    return None if found is None else data[slice(*found)]


def add_block(data: bytes, head: str) -> tuple[bytes, EditTrace]:
    """Return the file with the block, in place of an old one or at the end. A new file starts with `head`."""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    block = BLOCK.encode().replace(b"\n", newline)
    found = _block_range(data)
    if found is not None:
        return data[: found[0]] + block + data[found[1] :], EditTrace()
    return append_paragraph(data, block if data.strip() else head.encode().replace(b"\n", newline) + block)


def remove_block(data: bytes, trace: EditTrace, head: str) -> bytes:
    """Return the file without the block; nothing is left of a file that has only our head and block."""
    found = _block_range(data)
    if found is None:
        return data
    rest = remove_paragraph(data, *found, trace.space)
    return b"" if rest.replace(b"\r\n", b"\n").strip() == head.encode().strip() else rest


def is_current(block: bytes) -> bool:
    """Return whether a block is the one that this version of Satchel writes."""
    return block.replace(b"\r\n", b"\n").strip() == BLOCK.encode().strip()


def _block_range(data: bytes) -> tuple[int, int] | None:
    """Return where the block starts and ends, with its last line ending; None if there is none."""
    begin, end = BEGIN.encode(), END.encode()
    if begin not in data and end not in data:
        return None
    start, stop = data.find(begin), data.find(end)
    if not (data.count(begin) == data.count(end) == 1 and start < stop):
        line = data.count(b"\n", 0, max(start, stop)) + 1
        raise ConfigError(
            f"line {line}: the marks {BEGIN} and {END} are not there once each",
            hint="mend or remove them by hand",
        )
    stop += len(end)
    for newline in (b"\r\n", b"\n"):
        if data.startswith(newline, stop):
            return start, stop + len(newline)
    return start, stop
