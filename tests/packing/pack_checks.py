"""What must be true of every pack: its size, its citations, its counts, and that it answers just what was asked."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from pathlib import Path

from pack_cases import Answer, Case

from satchel import languages, plugins, tokenizers
from satchel.engine import Engine
from satchel.lines import split_lines
from satchel.pack_pipeline import HOPS
from satchel.packing.pack import Item, Role
from satchel.packing.sections import Section, caps_of
from satchel.retrieval.filters import Filters
from satchel.verifying.saved_pack import SHORT_HASH

_MADE_UP_KEY = re.compile(r"ghp_\w{36}")


def check_size(case: Case, answer: Answer) -> None:
    """Never over budget on what the caller receives, and what is stated is what a recount gives."""
    budget = answer.pack.budget
    assert budget.used_chars == len(answer.document) <= (case.chars or len(answer.document))
    if case.tokens:
        count = tokenizers.get(case.tokenizer).count(answer.document)
        assert budget.used_tokens == count <= case.tokens - budget.headroom_tokens


def check_items(engine: Engine, root: Path, answer: Answer) -> None:
    """Every item is lines of its file, byte for byte, found again by its id; no line is there twice."""
    taken: dict[str, set[int]] = defaultdict(set)
    for item in answer.pack.items:
        _check_citation(engine, root, item)
        lines = set(range(item.start_line, item.end_line + 1))
        assert lines and not lines & taken[item.path], (item.locator, sorted(taken[item.path]))
        taken[item.path] |= lines


def _check_citation(engine: Engine, root: Path, item: Item) -> None:
    record = engine.snapshot().file(item.path)
    assert record is not None
    raw = (root / item.path).read_bytes()
    on_disk = split_lines(raw.decode(record.encoding))[item.start_line - 1 : item.end_line]
    shown = split_lines(item.content)
    differing = [
        number
        for number, pair in enumerate(zip(shown, on_disk, strict=True), item.start_line)
        if pair[0] != pair[1]
    ]
    hidden = [line for line in record.redactions if item.start_line <= line <= item.end_line]
    assert differing == sorted(set(hidden)) and item.redactions == len(hidden)
    assert item.content_hash == hashlib.sha256(item.content.encode()).hexdigest()
    assert item.file_hash == hashlib.sha256(raw).hexdigest()
    (found,) = engine.find([item.chunk_id])
    assert found.fate == "current" and found.chunk is not None, item.chunk_id
    assert (found.chunk.path, found.chunk.start_line, found.chunk.end_line) == (
        item.path,
        item.start_line,
        item.end_line,
    )


def check_counts(answer: Answer) -> None:
    """What was selected, dropped and a copy adds up to what there was."""
    counts = answer.pack.counts
    assert counts.selected == len(answer.pack.items)
    assert counts.selected + counts.duplicates + counts.all_dropped == counts.candidates
    assert min((counts.duplicates, *counts.dropped.values())) >= 0
    assert sum(counts.dropped_by_section.values()) == counts.all_dropped


def check_wishes(engine: Engine, case: Case, answer: Answer) -> None:
    """Filters, caps, limits and preferences hold."""
    filters = Filters(**case.filters)
    for item in answer.pack.items:
        record = engine.snapshot().file(item.path)
        assert record is not None and filters.accepts_file(record)
        assert not filters.chunk_type or item.kind == filters.chunk_type
    if case.action == "context_pack":
        _check_flat(case, answer)
    else:
        caps = caps_of(case.options["mode"], case.options["section_caps"])
        assert not [item for item in answer.pack.items if not caps[item.section]]
        assert all(item.role is Role.PRIMARY for item in answer.pack.items)


def _check_flat(case: Case, answer: Answer) -> None:
    items, options = answer.pack.items, case.options
    primary = [item for item in items if item.role is Role.PRIMARY]
    related = [item for item in items if item.role is Role.RELATED]
    assert len(primary) <= options["limit"]
    assert len(related) <= len(primary) * options["max_related_per_primary"]
    assert all(item.relationship and 1 <= item.distance <= HOPS[options["strategy"]] for item in related)
    assert not any(item.relationship or item.distance for item in primary)
    if not options["include_docs"]:
        assert not [item.path for item in items if languages.get(item.language).prose]


def check_document(case: Case, answer: Answer) -> None:
    """No secret is in it; a format gives back the citations that it wrote."""
    assert not _MADE_UP_KEY.search(answer.document)
    if case.action in ("context_pack", "build_context_pack"):
        return
    cited = plugins.load("renderer", case.action).read(answer.document)
    ordered = [item for section in Section for item in answer.pack.of_section(section)]
    assert [
        (found.path, found.start_line, found.end_line, found.section, found.content_hash[:SHORT_HASH])
        for found in cited.citations
    ] == [
        (item.path, item.start_line, item.end_line, item.section, item.content_hash[:SHORT_HASH])
        for item in ordered
    ]
