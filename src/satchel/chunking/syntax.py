"""Chunk code through the syntax tree that tree-sitter makes.

A file takes one parse and one query. The span of a definition is what its chunk shows, including comments,
decorators and attributes; its lines are what its symbol shows. A file that does not parse cleanly loses
nothing: lines outside of all definitions become chunks of module code.
"""

from __future__ import annotations

import re

import tree_sitter

from satchel import languages
from satchel.chunking import parse_limits, windows
from satchel.chunking.captures import CapturedDefinition, Captures, LineMap, collect_captures, first_paragraph
from satchel.chunking.chunk_layout import DefinitionLines, lay_out_chunks
from satchel.chunking.chunker import Chunker
from satchel.chunking.error_runs import would_stall
from satchel.chunking.fact_extraction import FactExtractor
from satchel.chunking.parsers import blank_out, is_too_deep, load_grammar, normalize_text
from satchel.code_facts import FileFacts
from satchel.languages.language import Language
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import ByLines, ChunkKind, Symbol

_TYPE_KINDS = frozenset(
    {ChunkKind.CLASS, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.INTERFACE, ChunkKind.TRAIT, ChunkKind.IMPL}
)
_CLAUSE_KINDS = frozenset({ChunkKind.FUNCTION, ChunkKind.METHOD, ChunkKind.CONST})
_FUNCTION, _METHOD = ChunkKind.FUNCTION, ChunkKind.METHOD  # naming a member of an Enum takes 80 ns
_SIGNATURE_LIMIT = 240  # characters; longer parameter lists are cut
_WRAPPER_TAIL = 2  # bytes that a wrapper may have after what it wraps: a semicolon and a line end
_MAX_DEPTH = 64  # nested definitions; deeper ones stay part of the one around them
_TEMPLATE_ARGUMENTS = re.compile(r"\s*<[^<>]*>")
_TRAILING_COMMENT = re.compile(r"(?<=[:{]) (?:#|//) .*$")
_ATTRIBUTE_MARKS = b"@[#"  # the first characters of an attribute inside the node of a definition


def parse(text: str, name: str) -> Parsed:
    """Return the chunks, symbols and references of one file; windows of it where parsing reaches a limit."""
    data = text.encode("utf-8", "surrogatepass")
    if languages.get(name).endless or parse_limits.needs_helper(data):
        try:
            parsed = parse_limits.parse(text, name, parse_here)
        except parse_limits.HelperUnavailable:
            return parse_here(text, name)
        return windows.parse(text, name, ByLines.LIMIT) if parsed is None else parsed
    with parse_limits.limited(len(data)):
        return parse_here(text, name)


def parse_here(text: str, name: str, *, with_facts: bool = True) -> Parsed:
    """Return the same as `parse`, made in this process and without a limit of time or memory. Without facts
    for the code graph it takes a third of the time."""
    # Long, because it is the recipe of a parse, and every step needs several of those before it.
    language = languages.get(name)
    read = normalize_text(text)
    if read and not read.endswith("\n"):
        # Without a final line end the Makefile grammar drops the only line of a recipe.
        read += "\n"
    data = read.encode("utf-8", "surrogatepass")
    if is_too_deep(data):
        return windows.parse(text, name, ByLines.NESTING)
    grammar = load_grammar(name)
    parser = grammar.parser
    visible = blank_out(data, language)
    if would_stall(visible, parser):
        return windows.parse(text, name, ByLines.ERRORS)
    lines = split_lines(text)
    line_map = LineMap(lines if read is text else split_lines(read), data)
    tree = parser.parse(visible)
    if visible != data and _is_broken(tree):
        # Without the blanked text the file does not parse at all.
        tree = parser.parse(data)
    query = grammar.query_for(tree)
    captures = collect_captures(
        tree_sitter.QueryCursor(query.query).matches(tree.root_node), query, data, line_map, language
    )
    roots = _nest(captures, line_map, language)
    definitions = [_to_definition(definition) for definition in roots]
    chunks = lay_out_chunks(lines, definitions, language.module_kind)
    comments = {number for first, last in captures.comments for number in range(first, last + 1)}
    symbols: list[Symbol] = []
    _collect_symbols(roots, data, line_map, comments, symbols)
    facts = FileFacts()
    if with_facts and language.graph is not None:
        facts = FactExtractor(captures.graph, roots, captures.names, data, language).extract()
    return Parsed(
        chunks=tuple(chunks),
        symbols=tuple(symbols),
        references=tuple(captures.references),
        comments=tuple(captures.comments),
        facts=facts,
    )


def _is_broken(tree: tree_sitter.Tree) -> bool:
    """Return whether a single error covers more than half of the file."""
    root = tree.root_node
    half = root.end_byte // 2
    return root.has_error and any(
        child.is_error and child.end_byte - child.start_byte > half for child in (root, *root.children)
    )


def _nest(captures: Captures, line_map: LineMap, language: Language) -> list[CapturedDefinition]:
    """Return the definitions as a tree by containment. A wrapper gives its span to what it wraps and is
    dropped."""
    captures.comments.sort()
    roots: list[CapturedDefinition] = []
    stack: list[CapturedDefinition] = []
    seen: dict[tuple[int, int], CapturedDefinition] = {}
    order = sorted(captures.definitions, key=lambda item: (item.start, -item.end, item.pattern))
    for definition in order:
        if definition.kind is not None:
            first = seen.setdefault((definition.start, definition.end), definition)
            # Two patterns captured one node: the first counts.
            if first is not definition:
                first.doc = first.doc or definition.doc
                continue
        while stack and stack[-1].end < definition.end:
            stack.pop()
        definition.lines = definition.span = _node_lines(definition.node, captures, line_map)
        if stack and stack[-1].kind is None and stack[-1].end - definition.end <= _WRAPPER_TAIL:
            definition.span = stack.pop().span
        if len(stack) >= _MAX_DEPTH:
            continue
        if definition.kind is not None:
            _attach(definition, [item for item in stack if item.kind is not None], roots, captures, language)
        stack.append(definition)
    return roots


def _node_lines(node: tree_sitter.Node, captures: Captures, line_map: LineMap) -> tuple[int, int]:
    """Return the lines of a node without trailing blank lines. Where indentation closes a block (Scala), a
    node extends to the next one: trailing comments that are indented no deeper than the node belong to what
    follows."""
    first, last = line_map.first(node), line_map.last(node)
    while last > first and (
        not line_map.lines[last - 1].strip()
        or (
            last in captures.leading
            and first < captures.leading[last]
            and line_map.depth(last) <= line_map.depth(first)
        )
    ):
        last -= 1
    return first, last


def _attach(
    definition: CapturedDefinition,
    parents: list[CapturedDefinition],
    roots: list[CapturedDefinition],
    captures: Captures,
    language: Language,
) -> None:
    """Give a definition its title path, comments and kind, and add it to its parent or the roots."""
    parent = parents[-1] if parents else None
    if definition.kind is _FUNCTION and (
        definition.scope or (parent is not None and parent.kind in _TYPE_KINDS)
    ):
        definition.kind = _METHOD
    own = _name_parts([definition.scope, definition.name], language) or (definition.name,)
    namespace = captures.namespace(definition.start) if parent is None else ""
    definition.title_path = (parent.title_path if parent else _name_parts([namespace], language)) + own
    first, last = definition.span
    above = first - 1
    while above in captures.leading:
        first = captures.leading[above]
        above = first - 1
    definition.span = (first, last)
    documented = [captures.docs[line] for line in range(first, definition.lines[0]) if line in captures.docs]
    definition.doc = definition.doc or next(iter(documented), "")
    siblings = parent.children if parent else roots
    mergeable = language.merge_clauses and definition.kind in _CLAUSE_KINDS
    if mergeable and siblings and siblings[-1].title_path == definition.title_path:
        siblings[-1].span = (siblings[-1].span[0], last)
        siblings[-1].lines = (siblings[-1].lines[0], definition.lines[1])
        # What a later clause contains belongs to the first clause.
        definition.children = siblings[-1].children
        definition.defines = False
        return
    siblings.append(definition)


def _name_parts(written: list[str], language: Language) -> tuple[str, ...]:
    """Return the parts of a qualified name, without the arguments of templates in it."""
    if language.graph is not None and language.graph.names_are_scoped:
        written = [_without_arguments(each) for each in written]
    for separator in language.name_separators:
        written = [part for piece in written for part in piece.split(separator)]
    return tuple(part.strip() for part in written if part.strip())


def _without_arguments(written: str) -> str:
    if "operator" in written:  # `operator<`
        return written
    count = 1
    while count:
        written, count = _TEMPLATE_ARGUMENTS.subn("", written)
    return written


def _to_definition(definition: CapturedDefinition) -> DefinitionLines:
    """Return a captured definition in the form that the layout of chunks takes."""
    assert definition.kind is not None
    return DefinitionLines(
        kind=definition.kind,
        title_path=definition.title_path,
        first=definition.span[0],
        last=definition.span[1],
        always_split=not definition.defines,
        children=[_to_definition(child) for child in definition.children],
    )


def _collect_symbols(
    definitions: list[CapturedDefinition],
    data: bytes,
    line_map: LineMap,
    comments: set[int],
    symbols: list[Symbol],
) -> None:
    """Append the symbols of definitions and of what they contain, in order."""
    for definition in definitions:
        if definition.defines:
            symbols.append(_symbol(definition, data, line_map, comments))
        _collect_symbols(definition.children, data, line_map, comments, symbols)


def _symbol(definition: CapturedDefinition, data: bytes, line_map: LineMap, comments: set[int]) -> Symbol:
    """Return the symbol of a definition."""
    assert definition.kind is not None
    first, last = definition.lines
    if definition.name_line > first and data[definition.start] in _ATTRIBUTE_MARKS:
        first = definition.name_line
    above = [line_map.lines[number - 1] for number in range(definition.span[0], first) if number in comments]
    return Symbol(
        name=definition.title_path[-1],
        qualified_name=".".join(definition.title_path),
        kind=definition.kind,
        start_line=first,
        end_line=last,
        signature=_signature(definition, data),
        doc=definition.doc or (first_paragraph("".join(above)) if above else ""),
    )


def _signature(definition: CapturedDefinition, data: bytes) -> str:
    """Return the definition up to its body on one line; without a body, its first line."""
    body = definition.node.child_by_field_name("body")
    head_end = definition.head_end or (body.start_byte if body else 0)
    start = definition.start
    if definition.name_start and data[start] in _ATTRIBUTE_MARKS:
        start = max(start, data.rfind(b"\n", start, definition.name_start) + 1)
    end = min(head_end or definition.end, start + 4 * _SIGNATURE_LIMIT)
    lines = data[start:end].decode("utf-8", "replace").strip().split("\n")
    code = [line for line in lines if not line.lstrip().startswith(("#", "//", "--"))]
    kept = code if head_end else lines[:1]
    line = " ".join(" ".join(kept).split())
    if "#" in line or "//" in line:
        line = _TRAILING_COMMENT.sub("", line)
    # Join parameters that stood on lines of their own.
    if len(kept) > 1:
        line = line.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return line.rstrip("{:=; ")[:_SIGNATURE_LIMIT]


CHUNKER = Chunker("syntax", parse)
