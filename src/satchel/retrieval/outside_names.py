"""Where is a qualified name used that nothing here defines: `json.loads`, `http.Request.Context`?

The expressions of the code graph say through which module, type or object a name is used, and what is
imported under another name is looked for under its own. Of a name through something that is neither defined
nor imported by name (`Path.Combine` in C#) the expressions say nothing; there the line has to have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from satchel.code_facts import ALL_NAMES, DEFAULT_NAME, FileFacts, Import, used_name
from satchel.retrieval.corpus import Corpus
from satchel.terms import compound, last_name
from satchel.types import Label, ResolvedReference

_SEPARATORS = re.compile(r"::|[/#\\]|->")
_SIGNS = re.compile(r"\(\)|\[\]|[<>{}^?@]")


def dotted(name: str) -> str:
    """Return a qualified name with dots between its parts, whatever its language writes there."""
    return _SEPARATORS.sub(".", name)


def find_outside_uses(corpus: Corpus, name: str) -> Iterator[ResolvedReference]:
    """Yield the uses of a qualified name that nothing here defines. Where no rules note what a name belongs
    to, these are the uses of the name alone."""
    short = last_name(name)
    for position in corpus.files_holding(compound(short)):
        record = corpus.files[position]
        if corpus.has_graph(record.path):
            facts, lines = corpus.snapshot.facts(record.path), corpus.lines(record.path)
            uses = set(_uses_as_written(facts, lines, name))
        else:
            written = corpus.snapshot.references(record.path)
            uses = {(use.line, use.label) for use in written if last_name(use.name) == short}
        yield from (
            ResolvedReference(
                path=record.path,
                line=line,
                label=label,
                name=short,
                target="",
                target_name="",
                confidence=0.0,
                in_test="test" in record.tags,
            )
            for line, label in uses
        )


def _uses_as_written(facts: FileFacts, lines: Sequence[str], name: str) -> Iterator[tuple[int, Label]]:
    """Yield the line and label of each use of a qualified name in a file."""
    wanted = dotted(name)
    in_text = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
    imported = dict(map(_binding, facts.imports))
    for use in facts.uses:
        spelled = _SIGNS.sub("", dotted(use.expression))
        head, dot, rest = spelled.partition(".")
        is_so = f".{spelled}".endswith(f".{wanted}")
        is_so = is_so or f".{imported.get(head, head)}{dot}{rest}".endswith(f".{wanted}")
        names_it = used_name(use.expression) == last_name(name)
        for line in use.lines:
            if is_so or (names_it and in_text.search(dotted(lines[line - 1]))):
                yield line, use.label


def _binding(item: Import) -> tuple[str, str]:
    """Return the name that an import binds, and the qualified name that it stands for."""
    module = dotted(item.module.rpartition(":")[2])  # `node:fs`
    if item.imported in ("", ALL_NAMES, DEFAULT_NAME):
        return item.name or module.rpartition(".")[2], module  # Go binds the last part of a path
    return item.name, f"{module}.{item.imported}"
