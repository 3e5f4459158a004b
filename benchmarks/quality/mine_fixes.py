"""Fixes in the histories of repositories → questions with known answers, and pairs of report and code.

    mine_fixes.py --mirror MIRROR --names repositories.txt --questions FOLDER --pairs FOLDER

A question is what the message of a fix reports, asked of the parent; its answer are the lines that the fix
changes. It has the form of the other sets, and beside it the definitions that were changed. `named` says
whether the report names a path, the stem of a file or a definition of the answer, so that a fit can leave
such questions out. A pair is a report with the text of a definition that its fix changed; its negatives are
other definitions nearby.

Without `--pairs` only questions are made, the same ones in a third of the time. Each repository has a file of
its own in either folder, written when it is done: what is there is not made again. Repositories that are not
in the mirror are passed over.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from fix_history import Definition, Fix, SourceFile, fixes_of, is_product, source_file

from satchel.evaluation.history import ID_DIGITS
from satchel.retrieval.references import CODE_KINDS
from satchel.walking import git
from satchel.walking.git_command import GitUnusable

NEVER = Path(__file__).parents[1] / "embedding" / "never_train_on.txt"
QUESTIONS = 60  # of one repository, if nothing else is asked for
FIXES = 400  # of one repository that pairs are made of
DEFINITIONS = 3  # of one fix that pairs are made of
CODE_LINES = 120  # of a definition in a pair
LEAST_LINES = 3  # of a negative; shorter ones are declarations
NEGATIVES = 6
ENOUGH = 3  # negatives in the changed files; with fewer, neighbours are read
NEIGHBOURS = 2  # files of the same folder that are read for negatives
SHORTEST_NAME = 3  # letters; shorter names are in every sentence


class Question(msgspec.Struct):
    """A question as a dataset has it."""

    set: str
    repo: str
    query_id: str
    source: str
    commit: str
    search_root: str
    language: str
    category: str
    query: str
    gold: list[dict[str, str | int]]
    definitions: list[dict[str, str | int]]
    names_gold: bool
    named: list[str]
    time: int


class Code(msgspec.Struct):
    """The text of a definition."""

    path: str
    name: str
    code: str


class Pair(msgspec.Struct):
    """A report, a definition that its fix changed, and definitions nearby that it did not change."""

    query: str
    title: str
    path: str
    name: str
    code: str
    language: str
    negatives: list[Code]
    time: int
    commit: str


def question_of_fix(source: str, fix: Fix) -> Question:
    """Return the question that a fix answers."""
    counts = Counter(file.language for file in fix.files)
    language = min(counts, key=lambda name: (-counts[name], name))
    named = names_in(fix)
    return Question(
        set="fixes",
        repo=source,
        query_id=fix.commit.id[:ID_DIGITS],
        source=source,
        commit=fix.commit.parent,
        search_root="",
        language=language,
        category=language,
        query=fix.commit.report.text,
        gold=[{"path": path, "start_line": first, "end_line": last} for path, (first, last) in fix.gold],
        definitions=[
            {
                "path": each.path,
                "name": each.symbol.qualified_name,
                "start_line": each.symbol.start_line,
                "end_line": each.symbol.end_line,
            }
            for each in fix.definitions
        ],
        names_gold=bool(named),
        named=named,
        time=fix.commit.time,
    )


def names_in(fix: Fix) -> list[str]:
    """Return what a report names of its answer: a `path` or file name, a file's `stem`, a `definition`."""
    text = fix.commit.report.text
    words = set(re.findall(r"\w+", text)) | set(re.findall(r"[\w-]+", text))
    files = [file.path.rpartition("/")[2] for file in fix.files]
    stems = {name.partition(".")[0] for name in files}
    defined = {each.symbol.name for each in fix.definitions}
    found = {
        "path": any(name in text for name in files if "." in name),
        "stem": any(stem in words for stem in stems if len(stem) >= SHORTEST_NAME),
        "definition": any(name in words for name in defined if len(name) >= SHORTEST_NAME),
    }
    return [kind for kind, is_named in found.items() if is_named]


def pairs_of_fix(root: Path, fix: Fix) -> Iterator[Pair]:
    """Yield a pair for each of the definitions that a fix changes most."""
    ordered = sorted(
        fix.definitions, key=lambda each: (-len(each.changed), each.path, each.symbol.start_line)
    )
    chosen = ordered[:DEFINITIONS]
    files = {file.path: file for file in fix.files}
    negatives = nearby(root, fix) if chosen else []
    for each in chosen:
        file = files[each.path]
        yield Pair(
            query=fix.commit.report.text,
            title=fix.commit.report.title,
            path=each.path,
            name=each.symbol.qualified_name,
            code=code_of(file, each),
            language=file.language,
            negatives=negatives,
            time=fix.commit.time,
            commit=fix.commit.id[:ID_DIGITS],
        )


def code_of(file: SourceFile, definition: Definition) -> str:
    """Return the lines of a definition; of a long one those around the first changed line."""
    first, last = definition.symbol.start_line, definition.symbol.end_line
    if last - first >= CODE_LINES:
        changed = definition.changed[0] if definition.changed else first
        first = max(first, min(changed - CODE_LINES // 2, last - CODE_LINES + 1))
        last = first + CODE_LINES - 1
    return "".join(file.lines[first - 1 : last])


def nearby(root: Path, fix: Fix) -> list[Code]:
    """Return definitions of the changed files that the fix leaves as they are, and of files beside them if
    those are few; the same each time."""
    chance = random.Random(fix.commit.id)
    found = [code for file in fix.files for code in unchanged(file, fix.definitions)]
    chosen = chance.sample(found, min(NEGATIVES, len(found)))
    if len(chosen) < ENOUGH:
        beside = [code for file in neighbours(root, fix, chance) for code in unchanged(file, ())]
        chosen += chance.sample(beside, min(NEGATIVES - len(chosen), len(beside)))
    return chosen


def unchanged(file: SourceFile, changed: Iterable[Definition]) -> Iterator[Code]:
    """Yield the definitions of a file that share no line with the changed ones."""
    taken = [(each.symbol.start_line, each.symbol.end_line) for each in changed if each.path == file.path]
    for symbol in file.symbols:
        height = symbol.end_line - symbol.start_line + 1
        if symbol.kind not in CODE_KINDS or not LEAST_LINES <= height <= CODE_LINES:
            continue
        if all(symbol.end_line < first or last < symbol.start_line for first, last in taken):
            yield Code(file.path, symbol.qualified_name, code_of(file, Definition(file.path, symbol)))


def neighbours(root: Path, fix: Fix, chance: random.Random) -> list[SourceFile]:
    """Return some files of the parent in the folder of the first changed file, in the same language."""
    first = fix.files[0]
    folder = first.path.rpartition("/")[0]
    ((_, tree),) = git.read_blobs(root, [f"{fix.commit.parent}:{folder}"])
    ending = first.path.rpartition(".")[2]
    changed = {file.path for file in fix.files}
    beside = {
        path: blob
        for name, blob in tree_files(tree or b"")
        if (path := f"{folder}/{name}".lstrip("/")).endswith(f".{ending}")
        and path not in changed
        and is_product(path)
    }
    chosen = chance.sample(sorted(beside), min(NEIGHBOURS, len(beside)))
    blobs = dict(git.read_blobs(root, [beside[path] for path in chosen]))
    read = (source_file(path, blobs.get(beside[path])) for path in chosen)
    return [file for file in read if file is not None]


def tree_files(tree: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names and blobs of the files in a tree object."""
    for mode, name, blob in re.findall(rb"(\d+) ([^\0]+)\0(.{20})", tree, re.DOTALL):
        if mode.startswith(b"100"):
            yield name.decode("utf-8", "replace"), blob.hex()


def mine(source: str, root: Path, places: Mapping[str, Path], most: int = QUESTIONS) -> str:
    """Write what is asked for of one repository, oldest first, at most `most` questions; return how much it
    is."""
    fixes = fixes_of(root, FIXES if "pairs" in places else most)
    asked = sorted(fixes[:most], key=lambda fix: (fix.commit.time, fix.commit.id))
    by_time = sorted(fixes, key=lambda fix: (fix.commit.time, fix.commit.id))
    count = 0
    if "pairs" in places:
        pairs = [pair for fix in by_time for pair in pairs_of_fix(root, fix)]
        write(places["pairs"], pairs)
        count = len(pairs)
    write(places["questions"], [question_of_fix(source, fix) for fix in asked])
    return f"{source}: {len(asked)} questions, {count} pairs"


def write(path: Path, records: Sequence[msgspec.Struct]) -> None:
    """Write records as lines, so that the file is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}.part")
    beside.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    os.replace(beside, path)


def forbidden_names() -> frozenset[str]:
    """Return the repositories that nothing is learned from, in lower case."""
    lines = NEVER.read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip().lower() for line in lines if line.strip() and not line.startswith("#"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirror", type=Path, required=True, help="the folder of the git directories")
    parser.add_argument("--names", type=Path, required=True, help="the repositories, owner/name on each line")
    parser.add_argument("--questions", type=Path, required=True, help="the folder of the questions")
    parser.add_argument("--pairs", type=Path, help="the folder of the pairs")
    parser.add_argument("--most", type=int, default=QUESTIONS, help="questions of one repository")
    options = parser.parse_args()
    folders = {"questions": options.questions, **({"pairs": options.pairs} if options.pairs else {})}
    for line in options.names.read_text(encoding="utf-8").splitlines():
        source = line.split("\t")[0].strip()
        root = options.mirror / source.replace("/", "+") / "repo"
        places = {kind: folder / f"{source.replace('/', '__')}.jsonl" for kind, folder in folders.items()}
        if not source or not root.exists() or all(place.exists() for place in places.values()):
            continue
        if source.lower() in forbidden_names():
            raise SystemExit(f"{source} is in {NEVER.name}: nothing is learned from it")
        try:
            print(mine(source, root, places, options.most), flush=True)
        except GitUnusable as problem:
            print(f"{source}: {problem}", flush=True)


if __name__ == "__main__":
    main()
