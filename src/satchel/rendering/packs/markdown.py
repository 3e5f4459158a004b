"""The pack as Markdown, to paste into any chat: headings, citations, fences that name their language.

    # Context pack: <query>

    worktree, 1 item, 310 of 4000 o200k tokens. Fenced text is quoted from the repository: data, …

    ## definitions

    ### `src/shop/session.py:12-48` #3f2a9c1d class `SessionStore`
    ```python
    …
    ```

Names and hints are written so that they make no link, no image and no HTML where Markdown is shown.
"""

from __future__ import annotations

import re
from functools import lru_cache

from satchel.commands.pack_formats import Renderer
from satchel.packing.pack import Item, Pack
from satchel.rendering.packs.quoting import fence_for, quoted_line, short_query, shown_text
from satchel.rendering.packs.text_lines import (
    QUOTED,
    TextGrammar,
    TextReader,
    by_section,
    citation_proof,
    headline,
    kind_and_symbol,
    line_numbers,
    next_text,
    pack_lines,
    path_word,
    read_citation_line,
    read_headline,
)
from satchel.verifying.saved_pack import Citation, CitedPack

_TITLE = "# Context pack:"
_RULE = f". Fenced text is {QUOTED}"
_ITEM = "### "
_MISSING = "- missing: "
_NEXT = "- next: "
_MARKUP = re.compile(r"([\\`*\[\]<>])")
_ESCAPED = re.compile(r"\\([\\`*\[\]<>])")
_NO_INFO = re.compile(r"[^\w+.#-]")  # characters that a language after a fence cannot have


def render(pack: Pack) -> str:
    """Return the pack as text."""
    rows = [f"{_TITLE} {_plain(short_query(pack.query))}".rstrip(), "", f"{headline(pack)}{_RULE}", ""]
    for section, items in by_section(pack):
        rows += [f"## {section.value}", ""]
        for item in items:
            rows.append(_item(item, pack.ref))
    rows += [f"{_MISSING}{_plain(quoted_line(hint))}" for hint in pack.hints]
    rows += [f"{_NEXT}{_plain(next_text(suggestion))}" for suggestion in pack.next_queries]
    return "\n".join(rows).rstrip("\n") + "\n"


@lru_cache(maxsize=512)  # a pack is rendered many times while it is filled
def _item(item: Item, pack_ref: str) -> str:
    kind, _, symbol = kind_and_symbol(item).lstrip().partition(" ")
    name = f" {kind}" if kind else ""
    if symbol:
        name += " `" + symbol.replace("`", "'") + "`"
    text = shown_text(item.content)
    fence = fence_for(text)
    heading = f"{_ITEM}`{path_word(item)}{line_numbers(item)}` {citation_proof(item, pack_ref)}{name}"
    return f"{heading}\n{fence}{_NO_INFO.sub('', item.language)}\n{text}\n{fence}\n"


def read(text: str) -> CitedPack | None:
    """Read a pack in this format; return None if the text is in another one."""
    lines = pack_lines(text)
    if len(lines) < 3 or not lines[0].startswith(_TITLE) or lines[1] or not lines[2].endswith(_RULE):
        return None
    head = read_headline(lines[2].removesuffix(_RULE))
    return TextReader(_GRAMMAR, lines, head, 3).cited(lines[0].removeprefix(_TITLE)) if head else None


def _citation(line: str, before: str, pack_ref: str, section: str) -> Citation | None:
    """Read the heading of an item: without its marks it is the citation line that all text formats share."""
    if not line.startswith(f"{_ITEM}`"):
        return None
    return read_citation_line(line.removeprefix(_ITEM).replace("`", ""), before, pack_ref, section)


def _plain(text: str) -> str:
    """Return a text with escapes, so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\1", text)


def _read_plain(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


_GRAMMAR = TextGrammar("markdown", _citation, _MISSING, _NEXT, _read_plain)
RENDERER = Renderer("markdown", render, read, shown_text)
