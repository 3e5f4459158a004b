"""Collect what the query of a language captures in a syntax tree, before the parts are connected."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import tree_sitter

from satchel.chunking.graph_captures import GraphCaptures
from satchel.languages.language import Language
from satchel.types import ChunkKind, Label, Reference

_DOC_LIMIT = 300  # characters; the first paragraph of almost every docstring fits
_NAME_LIMIT = 100  # bytes; a longer name of several words is code, found where macros break the grammar
_SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_OPENING_MARKS = _SPACES + "/*#!;%{|^-"
_CLOSING_MARKS = _SPACES + "*/}-"
_STRING_START = re.compile(r"[rbuf]*(?:\"\"\"|'''|\"|')", re.IGNORECASE)
_REFERENCE_CAPTURES = {f"reference.{label}": label for label in Label}
_MARKUP = re.compile(r"</?[A-Za-z][^>]{0,80}>")  # <summary>, <p>
_PARAMETERS = re.compile(r"^\s*(?:[*/#!;-]+\s*)?(?:[@\\](?:param|return|throws|arg)|:param|<param|<returns)")
_WORD_BYTE = re.compile(rb"\w")


@dataclass(slots=True)
class CapturedDefinition:
    """A definition, container or wrapper as the query captured it. `syntax` fills in its lines, title path
    and children."""

    node: tree_sitter.Node
    start: int
    end: int
    kind: ChunkKind | None  # None for a wrapper
    name: str = ""
    scope: str = ""
    doc: str = ""
    pattern: int = (
        -1
    )  # the pattern of the query that matched; if two patterns name one node, the first counts
    name_start: int = 0
    name_line: int = 0
    head_end: int = 0  # where the body starts, if the query captures it
    defines: bool = True
    lines: tuple[int, int] = (0, 0)  # of the definition alone, with all its clauses
    span: tuple[int, int] = (0, 0)  # including comments, attributes and a wrapper
    title_path: tuple[str, ...] = ()
    children: list[CapturedDefinition] = field(default_factory=list)


class LineMap:
    """Maps syntax nodes to line numbers. All lines of the text end with \\n, because tree-sitter counts no
    other line ends."""

    def __init__(self, lines: Sequence[str], data: bytes) -> None:
        self.lines = lines
        self._data = data

    def first(self, node: tree_sitter.Node) -> int:
        """Return the first line of a node."""
        return node.start_point[0] + 1

    def last(self, node: tree_sitter.Node) -> int:
        """Return the line of the last character of a node. The node itself may end behind its final line end,
        or in the white space before the next node."""
        row, column = node.end_point
        inside = column and self._data[node.end_byte - column : node.end_byte].strip()
        return max(row + 1 if inside else row, node.start_point[0] + 1)

    def depth(self, number: int) -> int:
        """Return how many characters a line is indented."""
        line = self.lines[number - 1]
        return len(line) - len(line.lstrip())


@dataclass(slots=True)
class Captures:
    """Everything that one run of a query found in a file."""

    definitions: list[CapturedDefinition] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    leading: dict[int, int] = field(default_factory=dict)  # attributes and comments: last line -> first line
    comments: list[tuple[int, int]] = field(default_factory=list)
    docs: dict[int, str] = field(
        default_factory=dict
    )  # first line of an attribute -> the documentation in it
    names: set[int] = field(default_factory=set)  # where names of definitions start; they are not references
    namespaces: list[tuple[int, str]] = field(default_factory=list)  # (start, name), in order
    graph: GraphCaptures = field(default_factory=GraphCaptures)

    def namespace(self, start: int) -> str:
        """Return the namespace statement that applies at a position of the file, empty if there is none."""
        above = bisect_right(self.namespaces, start, key=itemgetter(0))
        return self.namespaces[above - 1][1] if above else ""


def _text(node: tree_sitter.Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _joined_text(nodes: list[tree_sitter.Node], data: bytes) -> str:
    """Return the text from the first to the last node. Several nodes of one capture in one match are a path
    for which the grammar has no node."""
    return data[nodes[0].start_byte : nodes[-1].end_byte].decode("utf-8", "replace")


def collect_captures(
    matches: list[tuple[int, dict[str, list[tree_sitter.Node]]]],
    data: bytes,
    line_map: LineMap,
    language: Language,
) -> Captures:
    """Return the captures of a file, sorted by their role. References are distinct and sorted by line."""
    collected = Captures()
    uses: defaultdict[Label, list[tree_sitter.Node]] = defaultdict(list)
    labels = _REFERENCE_CAPTURES
    graph = collected.graph if language.graph is not None else None
    # Most matches are single names: which patterns give them is found out once.
    roles: dict[int, str] = {}
    lists = collected.graph.name_lists()
    for pattern, captures in matches:
        if graph is not None:
            if (role := roles.get(pattern, "")) != "":
                if role == "bind":
                    graph.bindings.append(captures)
                else:
                    lists[role] += captures[role]
                continue
            if graph.add(captures):
                if len(captures) == 1 and (role := next(iter(captures))) in ("use", "member", "bind"):
                    roles[pattern] = role
                continue
        for capture, nodes in captures.items():
            label = labels.get(capture)
            if label is not None:
                uses[label] += nodes
                continue
            group, _, kind = capture.partition(".")
            if group == "definition" or group == "container":
                _add_definition(
                    collected,
                    nodes[0],
                    pattern,
                    kind,
                    captures,
                    data,
                    line_map,
                    defines=group == "definition",
                )
            elif capture == "namespace":
                collected.namespaces.append((nodes[0].start_byte, _text(captures["name"][0], data)))
            elif group == "wrapper":
                collected.definitions.append(
                    CapturedDefinition(nodes[0], nodes[0].start_byte, nodes[0].end_byte, None)
                )
            elif capture == "doc" and "leading" in captures:
                collected.docs[line_map.first(captures["leading"][0])] = first_paragraph(
                    _text(nodes[0], data)
                )
            elif group in ("comment", "leading", "doc"):
                for node in nodes:
                    _add_leading(collected, node, data, line_map, comment=group != "leading")
            elif capture == "import":
                _add_import(collected, _joined_text(nodes, data), line_map.first(nodes[0]))
            elif capture == "import.name":
                module = _joined_text(captures["import.module"], data)
                for node in nodes:
                    separator = (
                        "" if module.endswith(language.import_separator) else language.import_separator
                    )
                    _add_import(collected, module + separator + _text(node, data), line_map.first(node))
    collected.namespaces.sort()
    found = {(line, label, name) for name, label, line in collected.references}
    for label, nodes in uses.items():
        found |= {
            (node.start_point[0] + 1, label, data[node.start_byte : node.end_byte].decode("utf-8", "replace"))
            for node in nodes
            if node.start_byte not in collected.names  # the name of a definition is not a reference
        }
    # A name that the parser inserted to recover from an error is empty.
    collected.references = [Reference(name, label, line) for line, label, name in sorted(found) if name]
    return collected


def _add_import(collected: Captures, written: str, line: int) -> None:
    """Add an import without its quotation marks or brackets."""
    target = written.strip().strip("\"'`<>").strip()
    if target:
        collected.references.append(Reference(target, Label.IMPORTS, line))


def _add_definition(
    collected: Captures,
    node: tree_sitter.Node,
    pattern: int,
    kind: str,
    captures: dict[str, list[tree_sitter.Node]],
    data: bytes,
    line_map: LineMap,
    *,
    defines: bool,
) -> None:
    """Add a definition or container, unless its name is missing or evidently not a name."""
    if "name" not in captures:
        return
    definition = CapturedDefinition(node, node.start_byte, node.end_byte, ChunkKind(kind), defines=defines)
    definition.pattern = pattern
    name = captures["name"][0]
    if name.start_byte == name.end_byte:
        return  # the parser inserted the name to recover from an error
    written = data[name.start_byte : name.end_byte]
    if defines and definition.kind is not ChunkKind.CONFIG and _is_code_fragment(written):
        return
    definition.name = " ".join(written.decode("utf-8", "replace").split())
    if not definition.name:
        return  # the name is white space
    definition.name_start = name.start_byte
    definition.name_line = line_map.first(name)
    if defines:
        collected.names.add(definition.name_start)
    if "body" in captures:
        definition.head_end = captures["body"][0].start_byte
    if "signature" in captures:
        definition.head_end = captures["signature"][0].end_byte
    if "scope" in captures:
        definition.scope = _text(captures["scope"][0], data)
    if "doc" in captures:
        definition.doc = first_paragraph(_text(captures["doc"][0], data))
    collected.definitions.append(definition)


def _is_code_fragment(written: bytes) -> bool:
    """Return whether a captured name is really a fragment of code, as happens where macros break the
    grammar."""
    if written[:1] in (b'"', b"'", b"`"):
        return False
    return b"{" in written or b";" in written or (len(written) > _NAME_LIMIT and len(written.split()) > 1)


def _add_leading(
    collected: Captures, node: tree_sitter.Node, data: bytes, line_map: LineMap, *, comment: bool
) -> None:
    """Add a comment or attribute that has its lines to itself. Only such lines belong to the definition below
    them."""
    end = node.end_byte - 1 if data[node.end_byte - 1 : node.end_byte] == b"\n" else node.end_byte
    line_end = data.find(b"\n", end)
    behind = data[end : line_end if line_end >= 0 else len(data)]
    if data[data.rfind(b"\n", 0, node.start_byte) + 1 : node.start_byte].strip() or _WORD_BYTE.search(behind):
        return
    first, last = line_map.first(node), line_map.last(node)
    collected.leading[last] = min(first, collected.leading.get(last, first))
    if comment:
        collected.comments.append((first, last))


def first_paragraph(written: str) -> str:
    """Return the first paragraph of a comment or docstring as one line, without comment marks and markup."""
    cleaned = []
    for line in written.split("\n"):
        if _PARAMETERS.match(line):
            break
        stripped = _without_marks(line.strip().strip("\"'"))
        if "<" in stripped:
            stripped = _MARKUP.sub("", stripped).strip()
        if stripped:
            cleaned.append(stripped)
        elif cleaned:
            break
    return " ".join(" ".join(cleaned).split())[:_DOC_LIMIT]


def _without_marks(line: str) -> str:
    """Return a line without comment marks, or without the start of a string."""
    text = line.lstrip(_OPENING_MARKS)
    if text == line and (start := _STRING_START.match(line)):
        text = line[start.end() :]
    return text.rstrip(_CLOSING_MARKS).strip()
