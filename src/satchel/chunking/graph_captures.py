"""What the query of a language captured for the code graph, before the scopes of names are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import tree_sitter

    Match = dict[str, list[tree_sitter.Node]]

# Captures of functions and classes without a name. A closure sees the self around it, a function does not.
_ANONYMOUS = frozenset({"scope.closure", "scope.function", "scope.class"})


class Word(NamedTuple):
    """A name in text that the grammar does not read, such as the body of a macro. Looks like a node."""

    start_byte: int
    end_byte: int
    end_point: tuple[int, int]


@dataclass(slots=True)
class GraphCaptures:
    """What the query captured for the graph, before scopes are known."""

    uses: list[tree_sitter.Node] = field(default_factory=list)
    members: list[tree_sitter.Node] = field(default_factory=list)
    scopes: list[tree_sitter.Node] = field(default_factory=list)
    objects: list[tuple[tree_sitter.Node, tree_sitter.Node | None]] = field(
        default_factory=list
    )  # body, type
    type_uses: list[tree_sitter.Node] = field(default_factory=list)  # where a name can only mean a type
    type_members: list[tree_sitter.Node] = field(default_factory=list)
    anonymous: dict[tuple[int, int], str] = field(default_factory=dict)  # range of a scope → its capture
    generics: list[Match] = field(default_factory=list)
    bases: list[tree_sitter.Node] = field(default_factory=list)
    imports: list[Match] = field(default_factory=list)
    bindings: list[Match] = field(default_factory=list)
    exports: list[tree_sitter.Node] = field(default_factory=list)
    results: list[tuple[tree_sitter.Node, bool]] = field(default_factory=list)  # (node, is a type)
    result_lists: list[tree_sitter.Node] = field(default_factory=list)
    containers: list[tree_sitter.Node] = field(default_factory=list)
    keys: list[tree_sitter.Node] = field(default_factory=list)
    globals: list[tree_sitter.Node] = field(default_factory=list)
    namespaces: list[tree_sitter.Node] = field(default_factory=list)
    packages: list[tree_sitter.Node] = field(default_factory=list)
    extensions: list[tree_sitter.Node] = field(default_factory=list)
    paths: list[tree_sitter.Node] = field(default_factory=list)  # members of modules and types: `a::b::c`
    code: list[tree_sitter.Node] = field(default_factory=list)
    tokens: list[tree_sitter.Node] = field(default_factory=list)  # code that the grammar leaves as tokens
    opaque: list[tree_sitter.Node] = field(default_factory=list)  # nodes whose names are no uses
    spans: list[Word] = field(default_factory=list)  # members for which the grammar has no node
    spaces: dict[int, str] = field(default_factory=dict)  # start of a name → which names it can mean

    def add(self, match: Match) -> bool:
        """Take a match of the query if it is about the graph; return whether it is."""
        # Long, because it is the table of the captures that the patterns of all languages may have.
        if "name" in match:  # a definition, whose `@scope` is another thing
            if "namespace" in match:
                self.packages.append(match["name"][0])
            elif "container.module" in match:
                self.namespaces += match["name"]
            return False
        if "import.module" in match:
            self.imports.append(match)
            return True
        taken = False
        for capture, nodes in match.items():
            if capture in _LISTS:
                _LISTS[capture](self).extend(nodes)
            elif capture in ("member.start", "member.end"):
                # The grammar has no node that ends with the name: `receiver.name(…)` is one node.
                start, end = match["member.start"][0], match["member.end"][0]
                self.spans.append(Word(start.start_byte, end.end_byte, end.end_point))
                return True
            elif capture.startswith("import."):
                self.imports.append(match)
                return True
            elif capture.startswith("bind"):
                self.bindings.append(match)
                return True
            elif capture.startswith("generic"):
                self.generics.append(match)
                return True
            elif capture in _ANONYMOUS:
                self.anonymous.update(((node.start_byte, node.end_byte), capture) for node in nodes)
            elif capture in ("returns", "result"):
                self.results += [(node, capture == "returns") for node in nodes]
            elif capture.startswith("use."):
                self.spaces.update((node.start_byte, capture[4:]) for node in nodes)
            elif capture.startswith("object"):
                of_type = match.get("object.type")
                self.objects.append((match["object"][0], of_type[0] if of_type else None))
                return True
            elif capture.startswith("_"):
                continue  # a capture for the conditions of its pattern
            else:
                return False
            taken = True
        return taken


_LISTS: dict[str, Callable[[GraphCaptures], list[tree_sitter.Node]]] = {
    "use": attrgetter("uses"),
    "member": attrgetter("members"),
    "use.type": attrgetter("type_uses"),
    "member.type": attrgetter("type_members"),
    "member.path": attrgetter("paths"),
    "scope": attrgetter("scopes"),
    "base": attrgetter("bases"),
    "global": attrgetter("globals"),
    "extension": attrgetter("extensions"),
    "export": attrgetter("exports"),
    "key": attrgetter("keys"),
    "code": attrgetter("code"),
    "tokens": attrgetter("tokens"),
    "opaque": attrgetter("opaque"),
    "package": attrgetter("packages"),
    "container": attrgetter("containers"),
    "returns.list": attrgetter("result_lists"),
}
