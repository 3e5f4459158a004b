"""What do the documents of a repository tell a newcomer: what it is, how to work on it, which rules hold?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from satchel.onboarding.command_kinds import CommandKind, kind_of_command
from satchel.onboarding.facts import Fact, RepositoryReader, numbered, shell_lines, shortened
from satchel.types import ChunkKind

_SUFFIXES = ("", ".md", ".markdown", ".rst", ".txt", ".adoc", ".org", ".mdx")
_READMES = tuple(f"readme{suffix}" for suffix in (".md", ".rst", ".markdown", ".adoc", ".txt", ".org", ""))
_FOR_AGENTS = ("agents.md", "claude.md", "gemini.md")
_HIDDEN_GUIDES = (
    ".github/CONTRIBUTING.md",
    ".github/CONTRIBUTING.markdown",
    ".github/CONTRIBUTING.rst",
    ".github/copilot-instructions.md",
    ".cursorrules",
)
_FOR_DEVELOPERS = ("contributing", "hacking", "development", "developing", "developers")
_AT_ROOT = ("building", "install", "testing")  # below docs/ such documents are for users
_FURTHER = (
    "architecture",
    "design",
    "changelog",
    "changes",
    "news",
    "security",
    "code_of_conduct",
    "roadmap",
    "governance",
)
_LEAST_PROSE = 40  # characters of a paragraph that says something
_LONGEST_COMMAND = 300  # characters; a longer line is data
_MOST_HEADINGS = 14
_README_HEAD = 120  # lines; what it is stands above
_ASIDE = re.compile(r"\bsponsor|\blicen[sc]ed?\b|\bbackers?\b|\btranslations?\b", re.IGNORECASE)

_NO_PROSE = re.compile(
    r"\s*(?:[#=~\-*_^>|+`]{1}|\d+[.)]\s|\.\.\s|:\w|\[!|\[[^\]]+\]:|!\[|<!--|\{%|include::|image::)"
)
_TAGS = re.compile(r"<[^>]{0,300}>")
_IMAGES = re.compile(r"\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\]\([^)]*\)|\]\[[^\]]*\])?")
_LINKS = re.compile(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])")
_ROLE = re.compile(r":\w+:`([^`<]+)(?:<[^`]*>)?`|`([^`<]+)\s<[^`]*>`__?")


def readme_of(reader: RepositoryReader) -> str:
    """Return the README of the repository; empty if it has none."""
    found = reader.at_root(*_READMES)
    nested = reader.nearest("README.md") or reader.nearest("README.rst")
    return next(iter([*found, *nested]), "")


def developer_documents(reader: RepositoryReader) -> list[str]:
    """Return the documents that say how to work on the project, those for agents first."""
    names = [*_FOR_AGENTS, *(f"{name}{suffix}" for name in _FOR_DEVELOPERS for suffix in _SUFFIXES)]
    found = reader.at_root(*names, *(f"{name}{suffix}" for name in _AT_ROOT for suffix in _SUFFIXES))
    found += [path for path in _HIDDEN_GUIDES if reader.lines(path)]
    for folder in ("docs/", "doc/"):
        present = {
            path.lower(): path for path in reader.below(folder, *(suffix for suffix in _SUFFIXES if suffix))
        }
        found += [present[folder + name] for name in names if folder + name in present]
    return found or _nested_guides(reader)


def _nested_guides(reader: RepositoryReader) -> list[str]:
    """Return the documents called `contributing` that stand highest in the tree, wherever that is."""
    named = [at for suffix in _SUFFIXES for at in reader.corpus.files_named(f"contributing{suffix}")]
    paths = [reader.files[at].path for at in named if "test" not in reader.files[at].tags]
    return sorted(paths, key=lambda path: (path.count("/"), path))[:1]


def digest(reader: RepositoryReader, readme: str) -> Iterator[Fact]:
    """Yield the first paragraphs of the README, and its headings with their lines."""
    lines = reader.lines(readme)
    prose = [item for item in paragraphs(lines[:_README_HEAD]) if not _ASIDE.search(item[2])]
    # A block of HTML is a banner more often than the sentence that says what the project is.
    prose.sort(key=lambda item: lines[item[0] - 1].lstrip().startswith("<"))
    for first, last, text in prose[:2]:
        yield reader.fact("", text, readme, first, last)
    if headings := _headings(reader, readme):
        told = ", ".join(f"{title} (:{line})" for title, line in headings[:_MOST_HEADINGS])
        more = f", {len(headings) - _MOST_HEADINGS} more" if len(headings) > _MOST_HEADINGS else ""
        yield Fact("sections", *_cited(reader.whole_file("", "", readme), shortened(told + more, 500)))


def _cited(fact: Fact, text: str) -> tuple[str, str, int, int, str]:
    return text, fact.path, fact.start_line, fact.end_line, fact.content_hash


def _headings(reader: RepositoryReader, path: str) -> list[tuple[str, int]]:
    """Return the headings of a document of the first two levels, without its title."""
    if path not in reader.corpus.position_of:
        return []
    chunks = reader.corpus.snapshot.chunks(path)
    titled = [chunk for chunk in chunks if chunk.kind is ChunkKind.SECTION and chunk.title_path]
    upper = [chunk for chunk in titled if len(chunk.title_path) <= 2]
    seen = dict.fromkeys((plain(chunk.title_path[-1]), chunk.start_line) for chunk in upper[1:])
    first_lines: dict[str, int] = {}
    for title, line in seen:
        first_lines.setdefault(title, line)
    return [(title, line) for title, line in first_lines.items() if title not in ("", "INTRO")]


def plain(text: str) -> str:
    """Return a line of Markdown, HTML or reStructuredText without pictures, tags and link targets."""
    text = _ROLE.sub(lambda found: (found.group(1) or found.group(2)).strip(), text)
    return " ".join(_LINKS.sub(r"\1", _TAGS.sub(" ", _IMAGES.sub(" ", text))).split())


def paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line and plain text of each paragraph of prose: no heading, list, table, code,
    picture or badge."""
    block: list[tuple[int, str]] = []
    fence = ""
    front_matter = bool(lines) and lines[0].strip() == "---"
    for number, line in [*numbered(lines), (len(lines) + 1, "")]:
        stripped = line.strip()
        if front_matter:
            front_matter = number == 1 or stripped != "---"
            continue
        if fence or stripped.startswith(("```", "~~~")):
            fence = "" if fence and stripped.startswith(fence) else fence or stripped[:3]
            block = []
        elif stripped and not line.startswith(("    ", "\t")):
            block.append((number, stripped))
        else:
            yield from _paragraph(block)
            block = []


def _paragraph(block: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    if len(block) > 1 and re.fullmatch(r"([=\-~^*#])\1{2,}", block[1][1]):  # a heading with a line below it
        block = block[2:]
    prose = [(number, text) for number, text in block if not _is_markup(text) and plain(text)]
    is_list = block[:1] and _NO_PROSE.match(block[0][1]) and not re.match(r"[*_`]{1,3}\w", block[0][1])
    if not prose or is_list:
        return
    text = plain("\n".join(part for _, part in prose))  # as a whole: a link may go over a line end
    if len(text) >= _LEAST_PROSE and text.count(" ") >= 5:
        yield prose[0][0], prose[-1][0], text


def _is_markup(text: str) -> bool:
    return bool(re.match(r"\.\. |:\w[\w-]*:|\[[^\]]+\]:|<!--|\|", text))


_INLINE_CODE = re.compile(r"`([^`]{4,120})`")
_FENCE = re.compile(r"\s*(```|~~~)")


def written_commands(reader: RepositoryReader, path: str) -> Iterator[tuple[CommandKind, Fact]]:
    """Yield the commands that stand in code blocks of a document, each kind of command once per text."""
    seen = set()
    for first, last, command in shell_lines(_code_lines(reader.lines(path))):
        if len(command) > _LONGEST_COMMAND or command in seen:
            continue
        if kind := kind_of_command(command):
            seen.add(command)
            yield kind, reader.fact("", command.partition("  #")[0], path, first, last)


def _code_lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a document that stand in a fence, are indented or start with a prompt, and the code
    inside other lines."""
    fence = False
    for number, line in numbered(lines):
        if _FENCE.match(line):
            fence = not fence
        elif fence or line.startswith(("    ", "\t")) or line.lstrip().startswith("$ "):
            yield number, re.sub(r"^\s*[$%>] ", "", line)
        else:
            yield from ((number, code) for code in _INLINE_CODE.findall(line) if not code.endswith("\\"))


_RULE = re.compile(
    r"\b(?:commit messages?|conventional commits?|sign(?:ed)?[- ]off|DCO|changelog|changeset|code style"
    r"|coding (?:style|standard)|style guide|formatted with|linted|must pass|squash|rebase"
    r"|pull requests? (?:must|should|need)|new features? .{0,40}tests?|add(?:ing)? tests?)\b",
    re.IGNORECASE,
)
_MOST_RULES = 6  # of one document


def rules(reader: RepositoryReader, path: str) -> Iterator[Fact]:
    """Yield the lines of a document that tell contributors what they have to do."""
    found = (item for item in _blocks(reader.lines(path)) if _RULE.search(item[2]))
    for first, last, text in islice(found, _MOST_RULES):
        yield reader.fact("rule", text, path, first, last)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield first line, last line and plain text of each paragraph and each item of a list."""
    block: list[tuple[int, str]] = []
    fence = False
    for number, line in [*numbered(lines), (len(lines) + 1, "")]:
        is_start = bool(re.match(r"\s*(?:[-*+]|\d+[.)])\s", line))
        if block and (is_start or not line.strip() or line.startswith("#") or _FENCE.match(line)):
            text = plain(" ".join(part for _, part in block)).lstrip("*->+ 0123456789.)")
            if len(text) >= _LEAST_PROSE and not text.startswith("|"):
                yield block[0][0], block[-1][0], text
            block = []
        fence ^= bool(_FENCE.match(line))
        if line.strip() and not fence and not line.startswith("#") and not _FENCE.match(line):
            block.append((number, line.strip()))


def documents_to_read(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield the documents that a newcomer reads next, each with its title."""
    further = reader.at_root(*(f"{name}{suffix}" for name in _FURTHER for suffix in _SUFFIXES))
    folders = [
        f"{folder}/{name}" for folder in ("docs", "doc") for name in ("README.md", "index.md", "index.rst")
    ]
    starts = [path for path in folders if path in reader.corpus.position_of]
    for path in dict.fromkeys([*developer_documents(reader), *starts, *further]):
        told = (
            plain(line) for line in reader.lines(path) if not re.match(r"\s*(?:```|\.\. |<!--|---|:)", line)
        )
        title = next((line.lstrip("#= ") for line in told if line.strip("#=-*~ ")), "")
        yield reader.whole_file("", shortened(title, 60) or "untitled", path)


_LICENCE_NAME = re.compile(
    r"licen[sc]e\b|Permission is hereby granted|Redistribution and use|unencumbered", re.IGNORECASE
)


def licence(reader: RepositoryReader) -> Iterator[Fact]:
    """Yield the first line of the licence."""
    names = re.compile(r"(?:un|mit-)?licen[sc]e|copying")
    for path in [path for path in reader.root_paths if names.match(path.lower())][:1]:
        told = [(number, line) for number, line in numbered(reader.lines(path)[:80]) if len(line.strip()) > 5]
        named = [item for item in told if _LICENCE_NAME.search(item[1])]
        for number, line in (named or told)[:1]:
            yield reader.fact("licence", shortened(plain(line).strip("#* "), 80), path, number)
