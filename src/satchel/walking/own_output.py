"""Recognise the files that Satchel itself writes. An index, a pack or a manifest in the tree repeats the
tree: if it were indexed, it would be found in place of its sources and grow with each refresh.

In an index folder (`_ctx`, or the one that the user chose) our files are recognised by their names, and every
other file is the user's. Elsewhere a pack is recognised by its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from satchel.settings import INDEX_FOLDER

# An index, its log, its partial and damaged files; files about it, and their partial ones; cookies.
_OWN_NAME = re.compile(
    r"(?:context|eval)\.(?:lock|db(?:\.new|\.unusable-\d+)?(?:-wal|-shm|-journal|-base)?)"
    r"|(?:\.gitignore|(?:context|eval)\.walk|context_pack\.json|queries\.jsonl)(?:\.\d+\.part)?"
    r"|evals|refs|settle-\d+-[0-9a-f-]+"
)
_IGNORED = """\
/.gitignore
/.gitignore.*.part
/context.db
/context.db-*
/context.db.new*
/context.db.unusable-*
/context.lock
/context.walk
/context.walk.*.part
/context_pack.json
/context_pack.json.*.part
/eval.db
/eval.db-*
/eval.db.new*
/eval.db.unusable-*
/eval.lock
/eval.walk
/eval.walk.*.part
/evals
/queries.jsonl
/queries.jsonl.*.part
/refs
/settle-[0-9]*-*
"""
_LASTING = (
    "context.db",
    "context_pack.json",
    "eval.db",
    "evals",
    "queries.jsonl",
    "refs",
)  # worth telling of
_BY_US = "written by Satchel"
_EXPLAINED = "# What Satchel writes here; everything else in this folder is yours.\n"
GITIGNORE = (_EXPLAINED + _IGNORED).encode()
# Those of earlier versions: the first hid the documents that people keep in the folder.
OLD_GITIGNORES = (b"*\n", GITIGNORE.replace(b"/evals\n", b""))

_HEAD_CHARS = 600  # both say what they are in their first lines
# Compiled by the first file of JSON: a search of a fresh index reads none.
_LAYERS = (
    r'\s*\{\s*"schema_version":\s*1,\s*"segment":\s*"[^"\n]*",'
    r'\s*"created_at":\s*"[^"\n]*",\s*"generator_version":'
)
_MANIFEST = r'\s*\{\s*"version":\s*1,\s*"chunks":\s*\[\s*\{\s*"chunk_id":\s*"chunk_[0-9a-f]{16}"'


def gitignore(file: Path | None) -> bytes:
    """Return the `.gitignore` of an index folder: it names our files, including an index file of an unusual
    name."""
    return GITIGNORE + "".join(f"/{pattern.name}\n" for pattern in beside(file)).encode()


def beside(file: Path | None) -> list[Path]:
    """Return patterns for an index file of an unusual name and the files beside it: its log and its lock."""
    if file is None or is_own_name(file.name):
        return []
    return [file.with_name(f"{file.name}*"), file.with_name(f"{file.stem}.lock")]


def is_own_name(name: str) -> bool:
    """Return whether a file or folder of this name in an index folder is ours."""
    return _OWN_NAME.fullmatch(name) is not None


def is_own_path(path: str, index_folder: str = "") -> bool:
    """Return whether a path is ours, or inside a folder that is ours. `index_folder` is an index folder of
    another name, relative to the root; `.` is the root itself."""
    if not index_folder and f"{INDEX_FOLDER}/" not in path:
        return False
    parts = path.split("/")
    return any(
        is_own_name(name) and is_index_folder("/".join(parts[:depth]), index_folder)
        for depth, name in enumerate(parts)
    )


def is_index_folder(folder: str, index_folder: str = "") -> bool:
    """Return whether indexes are kept in a folder, given relative to the root."""
    return folder.rpartition("/")[2] == INDEX_FOLDER or (folder or ".") == index_folder


def told_of(folder: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the path of each file of ours in an index folder that is worth reporting, with what it is."""
    prefix = "" if folder == "." else f"{folder}/"
    return ((f"{prefix}{name}", _BY_US) for name in names if name in _LASTING)


def own_output(text: str, language: str) -> str | None:
    """Return what the file is if Satchel wrote it, otherwise None."""
    if language != "json":
        return None
    head = text[:_HEAD_CHARS].removeprefix("\ufeff")
    if re.match(_LAYERS, head):
        return "a context pack of Satchel"
    return "a manifest of Satchel" if re.match(_MANIFEST, head) else None
