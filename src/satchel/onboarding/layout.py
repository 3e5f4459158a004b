"""How is a repository laid out: folders, where programs start, what all refer to, where changes happen?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from satchel import languages
from satchel.onboarding.documents import paragraphs
from satchel.onboarding.facts import Fact, RepositoryReader, numbered, shortened
from satchel.packing.repository_map import MapSymbol
from satchel.storage.records import FileRecord
from satchel.types import ChunkKind
from satchel.wording import counted

_ASIDE = frozenset({"test", "example", "docs"})
_DOMINANT = 0.6  # of the code below one folder: then its folders are shown instead
_DEEPEST = 4  # folders
_MOST_FOLDERS = 16
_MOST_LANGUAGES = 6
_MOST_STARTS = 8
_SENTENCE = 140  # characters of what a folder says about itself
_FEW_FILES = 3  # of code in the root that are not worth a line
_PROGRAM_FOLDERS = ("bin/", "exe/")
_MAINS = ("main", "Main")
_NO_PROGRAM = re.compile(r"^\.|bench|metrics/|(?:^|/)build\.rs$", re.IGNORECASE)
_FEW_COMMITS = 20  # a history of fewer says nothing about where changes happen
_MOST_CHANGED = 10


def language_fact(reader: RepositoryReader) -> Fact:
    """Return how many files and lines there are in each language."""
    files: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for record in filter(_is_code, reader.files):
        files[record.language] += 1
        lines[record.language] += record.line_count
    others = len(reader.files) - files.total()
    named = [name for name, _ in sorted(lines.items(), key=lambda item: (-item[1], item[0]))]
    told = [f"{name} {lines[name]:,} lines in {_files(files[name])}" for name in named[:_MOST_LANGUAGES]]
    more = [counted(len(named) - _MOST_LANGUAGES, "more language")] if len(named) > _MOST_LANGUAGES else []
    rest = [f"{_files(others)} of documents, settings and data"] if others else []
    return Fact("counted", ", ".join(told + more + rest))


def _files(count: int) -> str:
    return f"{count:,} file{'' if count == 1 else 's'}"


def _is_code(record: FileRecord) -> bool:
    return languages.get(record.language).module_kind is ChunkKind.MODULE


def _shown_folders(files: Sequence[FileRecord]) -> list[str]:
    """Return the folders to show: those of the root; one that holds most of the code gives way to its own."""
    shown = [folder for folder in _folders(files, "") if not folder.startswith(".")]
    code = [record for record in files if _is_code(record) and _ASIDE.isdisjoint(record.tags)]
    for _ in range(_DEEPEST):
        held = {folder: sum(record.path.startswith(folder) for record in code) for folder in shown}
        large = max(held, key=lambda folder: (held[folder], folder), default="")
        inner = _folders(files, large)
        directly = sum(record.path.rpartition("/")[0] + "/" == large for record in code)
        if not inner or held[large] < _DOMINANT * len(code) or 2 * directly > held[large]:
            break
        shown = [folder for folder in shown if folder != large] + inner
    return sorted(shown, key=lambda folder: (_is_aside(files, folder), -_code_count(files, folder), folder))[
        :_MOST_FOLDERS
    ]


def _is_aside(files: Sequence[FileRecord], folder: str) -> bool:
    """Return whether most files of a folder are tests, examples or documents."""
    inside = [record for record in files if record.path.startswith(folder)]
    return 2 * sum(not _ASIDE.isdisjoint(record.tags) for record in inside) > len(inside)


def _folders(files: Sequence[FileRecord], below: str) -> list[str]:
    inside = (record.path.removeprefix(below) for record in files if record.path.startswith(below))
    return sorted({f"{below}{path.split('/')[0]}/" for path in inside if "/" in path})


def _code_count(files: Sequence[FileRecord], folder: str) -> int:
    return sum(record.path.startswith(folder) and _is_code(record) for record in files)


def folder_facts(reader: RepositoryReader, central: Iterable[MapSymbol]) -> Iterator[Fact]:
    """Yield the folders, those with most code first: how many files each has, and what it says of itself or
    what most files refer to in it."""
    if fact := _root_fact(reader, central):
        yield fact
    for folder in _shown_folders(reader.files):
        inside = [record for record in reader.files if record.path.startswith(folder)]
        counts = Counter(record.language for record in inside).most_common()
        language = min(counts, key=lambda item: (-item[1], item[0]))[0]
        kind = "other text" if language == "unknown" else language
        count = f"{_files(len(inside))}, {'' if len(counts) == 1 else 'mostly '}{kind}"
        yield _described(reader, folder, count, inside, central)


def _root_fact(reader: RepositoryReader, central: Iterable[MapSymbol]) -> Fact | None:
    """Return what the code in the root itself is; None if there is next to none."""
    at_root = [record for record in reader.files if "/" not in record.path and _is_code(record)]
    if len(at_root) < _FEW_FILES:
        return None
    symbol = next((item for item in central if "/" not in item.path), None)
    if symbol is None:
        return None
    text = f"{_files(len(at_root))} of code; most used: {shortened(symbol.signature, _SENTENCE)}"
    return reader.fact("./", text, symbol.path, symbol.line)


def _described(
    reader: RepositoryReader,
    folder: str,
    count: str,
    inside: Sequence[FileRecord],
    central: Iterable[MapSymbol],
) -> Fact:
    for name in ("README.md", "README.rst", "__init__.py", "mod.rs", "lib.rs", "doc.go", "index.ts"):
        path = f"{folder}{name}"
        if path in reader.corpus.position_of and (found := _opening(reader, path)):
            first, last, text = found
            return reader.fact(folder, f"{count}: {shortened(text, _SENTENCE)}", path, first, last)
    symbol = next((item for item in central if item.path.startswith(folder)), None)
    if symbol is not None:
        text = f"{count}; most used: {shortened(symbol.signature, _SENTENCE)}"
        return reader.fact(folder, text, symbol.path, symbol.line)
    largest = max(inside, key=lambda record: (record.line_count, record.path))
    return reader.whole_file(folder, f"{count}; largest: {largest.path.removeprefix(folder)}", largest.path)


def _opening(reader: RepositoryReader, path: str) -> tuple[int, int, str] | None:
    """Return the first paragraph of a document, or of the comment that opens a code file."""
    if path.endswith((".md", ".rst")):
        prose = paragraphs(reader.lines(path))
        return next((item for item in prose if not re.search(r"licen[sc]ed", item[2])), None)
    for number, line in numbered(reader.lines(path)[:30]):
        found = re.match(r"(?:[rR]?(?:\"\"\"|''')|//!\s?|// |/\*\*?\s|\s\*\s)\s*([\w`*\[].{20,})$", line)
        if found and not re.match(
            r"copyright|licen[cs]ed|spdx|package|eslint|this file|SPDX", found.group(1), re.I
        ):
            return number, number, found.group(1).rstrip("\"'*/ ")
    return None


def start_facts(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield where programs start: definitions of `main`, and modules that are run by name."""
    found = []
    for name in _MAINS:
        for item in reader.corpus.symbols_named(name):
            record = reader.files[reader.corpus.position_of[item.path]]
            aside = not _ASIDE.isdisjoint(record.tags) or _NO_PROGRAM.search(item.path)
            function = item.symbol.kind in (ChunkKind.FUNCTION, ChunkKind.METHOD)
            if not aside and function and item.symbol.name == name:
                found.append((item.path, item.symbol.start_line, item.symbol.signature))
    for path in reader.nearest("__main__.py", 3):
        module = path.rpartition("/")[0].removeprefix("src/").replace("/", ".")
        found.append((path, 1, f"python -m {module}"))
    for path in (path for folder in _PROGRAM_FOLDERS for path in reader.below(folder, "")):
        first = "".join(reader.lines(path)[:1])
        if path.count("/") == 1 and first.startswith("#!"):
            found.append((path, 1, first))
    found = sorted(dict.fromkeys(found), key=lambda item: (item[0].count("/"), item[0], item[1]))
    seen = set()
    for path, line, text in found:
        if path not in seen:
            seen.add(path)
            yield reader.fact("starts at", text, path, line)
        if len(seen) == _MOST_STARTS:
            return


def central_facts(reader: RepositoryReader, central: Iterable[MapSymbol]) -> Iterator[Fact]:
    """Yield the definitions that most files refer to."""
    for item in central:
        used = f"{item.files} files refer to it" if item.files > 1 else "1 file refers to it"
        owner = item.name.rpartition(".")[0]
        inside = f" in {owner}" if owner and owner not in item.signature else ""
        text = f"{shortened(item.signature, _SENTENCE)}{inside} — {used}"
        yield reader.fact("", text, item.path, item.line)


def change_facts(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield the folders and files that most commits of the kept history changed."""
    changes = reader.corpus.changes
    if changes.total < _FEW_COMMITS:
        return
    pairs = sorted(set(zip(changes.commits.tolist(), changes.files.tolist(), strict=True)))
    files = Counter(reader.files[at].path for _, at in pairs)
    shown = _shown_folders(reader.files)
    touched = {
        (commit, folder)
        for commit, at in pairs
        for folder in shown
        if reader.files[at].path.startswith(folder)
    }
    folders = Counter(folder for _, folder in touched)
    ranked = sorted(folders.items(), key=lambda item: (-item[1], item[0]))[:6]
    told = ", ".join(f"{folder} {count}" for folder, count in ranked)
    if told:
        yield Fact(
            "counted", f"of the last {changes.total:,} commits, this many changed a file below: {told}"
        )
    hot = sorted(files.items(), key=lambda item: (-item[1], item[0]))
    code = [item for item in hot if _is_code(reader.files[reader.corpus.position_of[item[0]]])]
    for path, count in code[:_MOST_CHANGED]:
        yield reader.whole_file("", f"{count} commits", path)
