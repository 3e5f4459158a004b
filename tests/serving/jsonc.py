"""JSON with comments, read by a parser that has nothing to do with ours: it is JavaScript."""

from __future__ import annotations

import json
from typing import Any

import tree_sitter
import tree_sitter_javascript

JAVASCRIPT = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))


def read_json(data: bytes) -> Any:
    """What a settings file says; comments and trailing commas are allowed."""
    text = data.decode("utf-8-sig")
    root = JAVASCRIPT.parse(f"({text})".replace("\r\n", "\n").encode()).root_node
    assert not root.has_error, text
    statement = next(node for node in root.named_children if node.type == "expression_statement")
    parentheses = statement.named_children[0]
    return value_of(next(node for node in parentheses.named_children if node.type != "comment"))


def value_of(node: tree_sitter.Node) -> Any:
    inner = [child for child in node.named_children if child.type != "comment"]
    if node.type == "object":
        pairs = [[one for one in child.named_children if one.type != "comment"] for child in inner]
        return {value_of(key): value_of(value) for key, value in pairs}
    if node.type == "array":
        return [value_of(child) for child in inner]
    return json.loads(node.text or b"")
