"""Which part of a code text is a keyword, a string, a comment …? Read off the syntax tree by one table for
all languages, so that pages and the terminal show the same colours.

Grammars name their nodes alike (`line_comment`, `string_literal`, `type_identifier`), so the words of a node
type tell its class; the fields `name`, `function` and `type` of its parent tell names of definitions, calls
and types. A language without a grammar is painted by its comments, strings and numbers alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from satchel import languages
from satchel.plugins import late

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking import parse_limits, parsers
else:  # a terminal without colours loads no parser
    parse_limits, parsers = late("satchel.chunking.parse_limits"), late("satchel.chunking.parsers")

# A longer text is painted in parts of whole lines: below this size, no parser was seen to stall.
_PART_CHARS = 40_000
_LONGEST_LINE = 5_000  # characters; a longer line is data, not code, and stays plain
_MOST_CHARS = 2_000_000  # of a text that is painted at all
# An excerpt may begin or end inside one of these; a grammar tells which of them its language has.
_DELIMITERS = (
    ('"""', '"""'),
    ("'''", "'''"),
    ("/*", "*/"),
    ("`", "`"),
    ("<!--", "-->"),
    ("{-", "-}"),
    ("--[[", "]]"),
)
_LONGEST_EXCERPT = (
    8_000  # characters; a longer text with errors is hardly cut inside a comment, and costs more
)
_LINE_OF_CODE = re.compile(r"[(){}\[\]=;]|[,:]$")
_EXPLAINED = 0.25  # of the bytes with errors: a reading that leaves more of them explains nothing


class TokenKind(StrEnum):
    """What a part of a code text is; the value is its class on pages."""

    PLAIN = ""
    KEYWORD = "k"
    STRING = "s"
    COMMENT = "c"
    NUMBER = "n"
    TYPE = "t"
    FUNCTION = "f"
    ATTRIBUTE = "a"


class CodeToken(NamedTuple):
    """A part of a code text."""

    kind: TokenKind
    text: str


class _Role(NamedTuple):
    """What the parents of a node say about the names below it."""

    kind: TokenKind = TokenKind.PLAIN
    is_member: bool = False  # only the last part of a member access has the kind


_NONE = _Role()
_WORD = re.compile(r"[#@]?[A-Za-z_]+")
_NAME_TYPES = re.compile(r"identifier$|^(?:name|word|variable|constant|bare_key|constructor|property_name)$")
_COMMENT_TYPES = re.compile(r"comment|doctype")
_STRING_TYPES = re.compile(
    r"string(?!_scalar)|^char|rune_literal|character|quote|heredoc|regex|symbol$|sigil|template_literal"
)
_IN_STRING = re.compile(r"string|escape|content|fragment|heredoc|_start$|_end$|regex|flags|value|atom|^text$")
_NUMBER_TYPES = re.compile(
    r"^(?:integer|float|number|decimal|int|imaginary|hex|octal|binary)"
    r"(?:_literal|_scalar|_value|_integer|_integer_literal|_floating_point.*)?$|numeric|_int_lit|color_value"
)
_TYPE_TYPES = re.compile(r"type_identifier|primitive_type|predefined_type|builtin_type|^class_name$|^alias$")
_ATTRIBUTE_TYPES = re.compile(
    r"attribute_name|property_name|bare_key|instance_variable|variable_name|lifetime"
)
_CONSTANTS = frozenset(
    {
        "boolean",
        "boolean_literal",
        "boolean_scalar",
        "false",
        "nil",
        "none",
        "null",
        "null_literal",
        "null_scalar",
        "self",
        "super",
        "tag_name",
        "this",
        "true",
    }
)
# Some grammars have a node type for each keyword (`keyword_select`); an argument with a name is none.
_KEYWORD_TYPES = re.compile(r"^keyword_(?!argument|pattern|separator)")
_CALLS = re.compile(r"call|invocation|creation")
_DEFINES = re.compile(r"function|method|constructor|macro|subroutine|^signature$|bind")
_DEFINES_TYPE = re.compile(
    r"class|struct|enum|interface|trait|impl|object|protocol|union|contract|type_(?:spec|alias|decl|item|def|param)"
)
_BODY = re.compile(r"_list$|body|block|declaration$")  # names in it are no types, although the whole is one
_MEMBERS = frozenset({"attribute", "property", "field", "name", "method", "suffix"})


def highlight(text: str, language: str) -> list[list[CodeToken]]:
    """Return the tokens of each line of a text, without line ends; together they are the text."""
    if len(text) > _MOST_CHARS:
        return [[CodeToken(TokenKind.PLAIN, line)] if line else [] for line in text.split("\n")]
    lines: list[list[CodeToken]] = [[]]
    for part in _parts(text):
        for kind, piece in _tokens(part, language):
            first, *others = piece.split("\n")
            if first:
                lines[-1].append(CodeToken(kind, first))
            for line in others:
                lines.append([CodeToken(kind, line)] if line else [])
    return lines


def _parts(text: str) -> Iterator[str]:
    """Yield a text in parts of whole lines that a parser can be given."""
    while len(text) > _PART_CHARS:
        end = text.rfind("\n", 0, _PART_CHARS) + 1 or text.find("\n", _PART_CHARS) + 1 or len(text)
        yield text[:end]
        text = text[end:]
    yield text


@lru_cache(maxsize=32)  # a part of 40,000 characters takes about a megabyte
def _tokens(text: str, language: str) -> tuple[CodeToken, ...]:
    """Return the tokens of a part of a text."""
    known = languages.get(language)
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        return (CodeToken(TokenKind.PLAIN, text),)
    if not known.grammar or known.endless:
        return tuple(_by_patterns(text, known.line_comment))
    data = text.encode("utf-8", "surrogatepass")
    if parse_limits.could_stall(data) or parsers.is_too_deep(data):
        return (CodeToken(TokenKind.PLAIN, text),)
    tree = parsers.load_grammar(language).parser.parse(data)
    if tree.root_node.has_error and len(text) <= _LONGEST_EXCERPT:
        return _tokens_of_excerpt(text, language, tree)
    return tuple(_joined(data, tree))


def _tokens_of_excerpt(text: str, language: str, tree: tree_sitter.Tree) -> tuple[CodeToken, ...]:
    """Return the tokens of a text with syntax errors, which may begin or end inside a long string or comment:
    with the delimiter that leaves the fewest errors, if it explains most of them."""
    least = _error_bytes(tree) * _EXPLAINED
    # Between two delimiters any text is right, so more must speak for that than errors.
    is_prose = _error_bytes(tree) > len(text) / 2 and _reads_like_prose(text)
    before, after = "", ""
    for opening, closing in _delimiters(language):
        readings = [(opening, ""), ("", closing)] if opening in text or closing in text else []
        for start, end in [*readings, *([(opening, closing)] if is_prose else [])]:
            data = f"{start}{text}{end}".encode("utf-8", "surrogatepass")
            errors = _error_bytes(parsers.load_grammar(language).parser.parse(data))
            if errors < least:
                least, before, after = errors, start, end
    data = f"{before}{text}{after}".encode("utf-8", "surrogatepass")
    tokens = _joined(data, parsers.load_grammar(language).parser.parse(data))
    return tuple(_within(tokens, len(before), len(before) + len(text)))


@lru_cache(maxsize=64)
def _delimiters(language: str) -> tuple[tuple[str, str], ...]:
    """Return what opens and closes strings and comments of several lines in a language."""
    parser = parsers.load_grammar(language).parser
    found = []
    for opening, closing in _DELIMITERS:
        data = f"{opening}a\n{closing}\n".encode()
        kinds = {token.kind for token in _joined(data, parser.parse(data)) if token.text.strip()}
        if len(kinds) == 1 and kinds <= {TokenKind.STRING, TokenKind.COMMENT}:
            found.append((opening, closing))
    return tuple(found)


def _reads_like_prose(text: str) -> bool:
    """Return whether at most a quarter of the lines look like code."""
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(bool(_LINE_OF_CODE.search(line)) for line in lines) * 4 <= len(lines)


def _error_bytes(tree: tree_sitter.Tree) -> int:
    """Return how many bytes of a text a parser could not read, with one for each token that it missed."""
    total, nodes = 0, [tree.root_node]
    while nodes:
        node = nodes.pop()
        if node.is_error:
            total += node.end_byte - node.start_byte
        elif node.has_error:
            total += node.is_missing
            nodes.extend(node.children)
    return total


def _within(tokens: Iterator[CodeToken], start: int, end: int) -> Iterator[CodeToken]:
    """Yield what tokens have between two offsets of their whole text."""
    at = 0
    for kind, text in tokens:
        if inside := text[max(0, start - at) : max(0, end - at)]:
            yield CodeToken(kind, inside)
        at += len(text)


def _joined(data: bytes, tree: tree_sitter.Tree) -> Iterator[CodeToken]:
    """Yield the tokens of a parsed text, with the text between them as plain ones."""
    done = 0
    for start, end, kind in _walk(tree):
        if start < done or end <= start:
            continue
        if start > done:
            yield CodeToken(TokenKind.PLAIN, data[done:start].decode("utf-8", "surrogatepass"))
        yield CodeToken(kind, data[start:end].decode("utf-8", "surrogatepass"))
        done = end
    if done < len(data):
        yield CodeToken(TokenKind.PLAIN, data[done:].decode("utf-8", "surrogatepass"))


_Range = tuple[int, int, TokenKind]


def _walk(tree: tree_sitter.Tree) -> Iterator[_Range]:
    """Yield the start, end and kind of every node that has a kind, in the order of the text."""
    cursor = tree.walk()
    parents: list[tuple[str, _Role]] = []
    role = _NONE
    while True:
        node = cursor.node
        assert node is not None
        kind_name, parent = node.type, parents[-1][0] if parents else ""
        role = _role_of(parents[-1][1] if parents else _NONE, parent, cursor.field_name or "", kind_name)
        whole = _whole_kind(kind_name, node.is_named, parent, role)
        if whole is TokenKind.STRING and node.is_named and node.child_count:
            yield from _string_parts(node)
        elif whole is not TokenKind.PLAIN:
            yield node.start_byte, node.end_byte, whole
        if whole is TokenKind.PLAIN or (whole is TokenKind.STRING and _has_code(node)):
            parents.append((kind_name, role))
            if cursor.goto_first_child():
                continue
            parents.pop()
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            parents.pop()


def _string_parts(node: tree_sitter.Node) -> Iterator[_Range]:
    """Yield the part of a string before the first code inside of it; the rest follows with its children."""
    code = [child for child in node.children if child.is_named and not _IN_STRING.search(child.type)]
    yield node.start_byte, code[0].start_byte if code else node.end_byte, TokenKind.STRING


def _has_code(node: tree_sitter.Node) -> bool:
    return any(child.is_named and not _IN_STRING.search(child.type) for child in node.children)


@lru_cache(maxsize=10_000)
def _role_of(above: _Role, parent: str, field: str, kind: str) -> _Role:
    """Return what a node inherits: the kind that names below it have."""
    if field in ("type", "return_type", "superclass", "result", "trait") or kind in ("type", "user_type"):
        return _Role(TokenKind.TYPE)
    if field == "key":
        return _Role(TokenKind.ATTRIBUTE)
    if field in ("function", "method", "macro", "constructor", "target") and _CALLS.search(parent):
        return _Role(TokenKind.FUNCTION, is_member=not _NAME_TYPES.search(kind))
    if field == "name":
        if _CALLS.search(parent) or _DEFINES.search(parent):
            return _Role(TokenKind.FUNCTION)
        if _DEFINES_TYPE.search(parent):
            return _Role(TokenKind.TYPE)
    if field == "declarator" and _NAME_TYPES.search(kind) and parent == "function_declarator":
        return _Role(TokenKind.FUNCTION)
    if above.is_member:
        return _Role(above.kind) if field in _MEMBERS else _NONE
    keeps = (
        (above.kind is TokenKind.TYPE and not _BODY.search(kind))
        or kind.endswith("scalar")
        or kind == "flow_node"
    )
    return above if keeps else _NONE


@lru_cache(maxsize=10_000)
def _whole_kind(kind: str, is_named: bool, parent: str, role: _Role) -> TokenKind:
    """Return the kind that all text of a node has; `PLAIN` if its children decide."""
    if not is_named:
        if _STRING_TYPES.search(parent) and not _WORD.fullmatch(kind):
            return TokenKind.STRING
        return TokenKind.KEYWORD if _WORD.fullmatch(kind) else TokenKind.PLAIN
    if _COMMENT_TYPES.search(kind):
        return TokenKind.COMMENT
    if role.kind is TokenKind.ATTRIBUTE and (kind.endswith("scalar") or _STRING_TYPES.search(kind)):
        return TokenKind.ATTRIBUTE
    if _NUMBER_TYPES.search(kind):
        return TokenKind.NUMBER
    if _STRING_TYPES.search(kind):
        return TokenKind.STRING
    if kind in _CONSTANTS or _KEYWORD_TYPES.search(kind):
        return TokenKind.KEYWORD
    if _TYPE_TYPES.search(kind):
        return TokenKind.FUNCTION if role.kind is TokenKind.FUNCTION else TokenKind.TYPE
    if role.kind is not TokenKind.PLAIN and not role.is_member and _NAME_TYPES.search(kind):
        return role.kind
    return TokenKind.ATTRIBUTE if _ATTRIBUTE_TYPES.search(kind) else TokenKind.PLAIN


def _by_patterns(text: str, line_comment: str) -> Iterator[CodeToken]:
    """Yield the tokens of a text whose language has no grammar."""
    start = re.escape(line_comment) if line_comment else r"(?!)"
    pattern = re.compile(
        rf"(?P<c>(?m:{start}.*$)|/\*[\s\S]*?\*/)|(?P<k>(?m:^\#{{1,6}} .*$))"
        r"|(?P<s>\"(?:[^\"\\\n]|\\.)*\"|`[^`\n]+`)|(?P<n>\b\d+(?:\.\d+)?\b)"
    )
    done = 0
    for match in pattern.finditer(text):
        if match.start() > done:
            yield CodeToken(TokenKind.PLAIN, text[done : match.start()])
        yield CodeToken(TokenKind(match.lastgroup or ""), match.group())
        done = match.end()
    if done < len(text):
        yield CodeToken(TokenKind.PLAIN, text[done:])
