"""The code graph as it is asked: what some lines use, who uses a definition, who imports a file.

Only sure uses are edges, those that a rule of their language or the index of a compiler decided. They are
kept with the file that uses; who uses a definition is found through the files that noted its path as
consulted and that hold its name.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np

from satchel.caching import Cache
from satchel.code_facts import Rule, Target, used_name
from satchel.retrieval.corpus import Corpus
from satchel.storage.cross_uses import CrossUses, run_starts
from satchel.terms import compound
from satchel.types import Label

_FILES_KEPT = 2_000  # whose edges were read; about 20 MB
_RENAMING = (Rule.IMPORT, Rule.SCIP)  # an import may give a definition another name


class SureUse(msgspec.Struct, frozen=True, gc=False):
    """A use of a name whose meaning is sure: where it stands, and the definition that it means."""

    path: str
    line: int
    label: Label
    name: str
    target: Target
    rule: Rule
    is_value: bool = False  # it means the value of the target's name, not the type of the same name


class FileUses(msgspec.Struct, frozen=True, gc=False):
    """The sure uses of one file by line, and what it imports: (line, path of a file)."""

    uses: tuple[SureUse, ...]
    imports: tuple[tuple[int, str], ...]


def file_uses(corpus: Corpus, path: str) -> FileUses:
    """Return the sure uses and imports of a file."""
    known: Cache[str, FileUses] = corpus.memo(_uses_cache)
    return known.get_or_compute(path, lambda: _kept_or_read(corpus, path))


def _kept_or_read(corpus: Corpus, path: str) -> FileUses:
    """Return what an earlier generation read of a file, if its edges are still the same."""
    kept = corpus.file_cache.sure_uses
    mark = corpus.snapshot.edges_mark(path)
    before = kept.get(path)
    if before is not None and before[0] == mark:
        found: FileUses = before[1]
        return found
    found = _read(corpus, path)
    kept.keep(path, (mark, found))
    return found


def _uses_cache(corpus: Corpus) -> Cache[str, FileUses]:
    return Cache(_FILES_KEPT)


def _read(corpus: Corpus, path: str) -> FileUses:
    (edges,) = corpus.snapshot.edges([path])
    if not edges.targets:
        return FileUses((), ())
    facts = corpus.snapshot.facts(path)
    targets = [Target(target.path, target.name) for target in edges.targets]
    found = [
        SureUse(path, line, use.label, used_name(use.expression), targets[target], rule, is_value)
        for number, target, rule in edges.uses
        for is_value in (edges.targets[target].is_value,)
        for use in (facts.uses[number],)
        for line in use.lines
    ]
    found += [
        SureUse(path, line, label, name, targets[target], rule, edges.targets[target].is_value)
        for line, name, label, target, rule in edges.by_line
    ]
    found.sort(key=lambda use: (use.line, use.label, use.name, use.target.path, use.target.name))
    imports = {(facts.imports[number].line, edges.targets[target].path) for number, target in edges.imports}
    return FileUses(tuple(found), tuple(sorted(imports)))


def uses_between(corpus: Corpus, path: str, first: int, last: int) -> list[SureUse]:
    """Return the sure uses in some lines of a file, by line."""
    return [use for use in file_uses(corpus, path).uses if first <= use.line <= last]


def uses_of(corpus: Corpus, targets: Collection[Target], most_files: int = 0) -> list[SureUse]:
    """Return the sure uses of some definitions, by path and line; of `most_files` at most, if that is given.

    A file that hands a definition on under another name is asked for that name as well.
    """
    wanted = set(targets)
    if not wanted:
        return []
    consulting = corpus.consulting(target.path for target in wanted)
    names = {target.name.rpartition(".")[2] for target in wanted}
    asked: set[str] = set()
    found: dict[str, list[SureUse]] = {}
    while names - asked:
        holding = {at for name in names - asked for at in corpus.files_holding(compound(name))}
        asked |= names
        paths = [corpus.files[at].path for at in sorted(holding)]
        # The definition's own file needs no import, and may have consulted nothing but itself.
        own = {target.path for target in wanted}
        chosen = [path for path in paths if (path in consulting or path in own) and path not in found]
        for path in chosen[: most_files or None]:
            found[path] = [use for use in file_uses(corpus, path).uses if use.target in wanted]
            names.update(use.name for use in found[path] if use.rule in _RENAMING)
    return [use for path in sorted(found) for use in found[path]]


def importers_of(corpus: Corpus, path: str) -> list[tuple[str, int]]:
    """Return the files that import a file, each with the line of its import, by path and line."""
    return [
        (other, line)
        for other in sorted(corpus.consulting([path]))
        for line, target in file_uses(corpus, other).imports
        if target == path and other != path
    ]


def cross_uses(corpus: Corpus) -> CrossUses:
    """Return which definitions of other files each file uses, of the files whose language has rules."""
    found = corpus.snapshot.cross_uses()
    return found.where(corpus.with_graph[found.users])


def users_of_files(corpus: Corpus) -> list[int]:
    """Return for each file how many others have a sure use of what it defines."""
    found = cross_uses(corpus)
    # What a file uses of the same file stands together.
    starts = run_starts(found.users, found.definers)
    counts: list[int] = np.bincount(found.definers[starts], minlength=len(corpus.files)).tolist()
    return counts
