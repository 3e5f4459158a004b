"""How large, how central and how often changed is each file or folder of a repository?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from satchel.retrieval.code_graph import users_of_files
from satchel.retrieval.corpus import Corpus
from satchel.storage.records import FileRecord


class FileFigures(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file, or a folder with all that is in it; the path of a folder ends with `/`.

    `used_by` counts the other files with a sure use of what a file defines; of a folder, it is that of its
    most used file. `changes` counts commits of the kept history. `redactions` counts replaced secret values,
    and `redacted_lines` are the lines of a file that hold them.
    """

    path: str
    bytes: int
    lines: int
    language: str
    used_by: int
    changes: int
    files: int = 1
    redactions: int = 0
    redacted_lines: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


def list_files(
    corpus: Corpus, path_prefix: str = "", depth: int = 0, *, with_uses: bool = True
) -> list[FileFigures]:
    """Return the files below a folder, by path. With a depth, what lies deeper is one entry for each folder
    of that depth. Who uses a file is known from the whole code graph, which is read unless it is not asked
    for."""
    prefix = path_prefix.strip("/") + "/" if path_prefix.strip("/.") else ""
    used = corpus.memo(users_of_files) if with_uses else None
    changed = _changes(corpus)
    found = [
        _of_file(record, used[at] if used else 0, changed[at])
        for at, record in enumerate(corpus.files)
        if record.path.startswith(prefix) or record.path == prefix[:-1]
    ]
    rows = found if depth < 1 else _folded(found, prefix, depth)
    return sorted(rows, key=lambda item: item.path)


def _of_file(record: FileRecord, used_by: int, changes: int) -> FileFigures:
    return FileFigures(
        record.path,
        record.size,
        record.line_count,
        record.language,
        used_by,
        changes,
        redactions=len(record.redactions),
        redacted_lines=tuple(sorted(set(record.redactions))),
        tags=record.tags,
    )


def _folded(files: Sequence[FileFigures], prefix: str, depth: int) -> Iterable[FileFigures]:
    """Yield files up to a depth below the prefix, and folders for what lies deeper."""
    folders: dict[str, list[FileFigures]] = defaultdict(list)
    for file in files:
        parts = file.path[len(prefix) :].split("/")
        if len(parts) <= depth:
            yield file
        else:
            folders[prefix + "/".join(parts[:depth]) + "/"].append(file)
    for path, inside in folders.items():
        yield _of_folder(path, inside)


def _of_folder(path: str, inside: Sequence[FileFigures]) -> FileFigures:
    sizes: Counter[str] = Counter()
    for file in inside:
        sizes[file.language] += file.bytes
    return FileFigures(
        path,
        sum(file.bytes for file in inside),
        sum(file.lines for file in inside),
        min(sizes, key=lambda name: (-sizes[name], name)),
        max(file.used_by for file in inside),
        sum(file.changes for file in inside),
        files=len(inside),
        redactions=sum(file.redactions for file in inside),
    )


def _changes(corpus: Corpus) -> list[int]:
    counts: list[int] = np.bincount(corpus.changes.files, minlength=len(corpus.files)).tolist()
    return counts
