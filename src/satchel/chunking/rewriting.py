"""Write an expression as the whole file knows it: a local variable is replaced by what it holds."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from satchel.chunking.bracket_text import closing_end
from satchel.chunking.expressions import STRING_TYPE, likely_value, to_expression
from satchel.chunking.known_types import KnownTypes
from satchel.chunking.type_expressions import to_type

if TYPE_CHECKING:
    import tree_sitter

    from satchel.chunking.graph_captures import Match
    from satchel.chunking.scopes import Binding

HEAD = re.compile(r"[^.(\[]*")
"""The first name of an expression, or what stands for it."""
_MOST_REPLACED = 6  # local variables that one expression goes through


class Rewriter(KnownTypes):
    """Rewrites the expressions of a file, and finds what its bindings hold."""

    def _expression(self, text: str, at: int) -> str:
        """Return the expression that a piece of code is, without the members that change nothing."""
        rules = self.rules
        if not (self._reads_paths or self._implies):
            return to_expression(text, rules.name_marks)
        if self._reads_paths and self._is_from_module(text):
            separator = self.language.import_separator
            parts = self._from_file(text.split(separator), at)
            text = separator.join(parts[1:] if parts[0] == rules.own_module else parts)
        if rules.attribute_mark and text.startswith(rules.attribute_mark):
            text = f"{rules.self_names[0]}.{text.lstrip(rules.attribute_mark)}"
        elif rules.constructor and text.startswith(f"{rules.constructor}("):
            text = f"{rules.self_names[0]}.{text}"
        if rules.names_are_scoped:
            text = text.removeprefix("::")
            if typed := self._typed_call(text, at):
                return typed
        absolute = rules.constants_are_lexical and text.startswith("::")
        written = to_expression(text[2:] if absolute else text, rules.name_marks, rules.name_endings)
        if written and self._transparent is not None:
            written = self._transparent.sub("", written)
        if written and self._constructor is not None:
            written = self._constructor.sub("()", written).replace("()()", "()")
        return f"::{written}" if absolute and written else written

    def _typed_call(self, text: str, at: int) -> str:
        """Return the expression of code that begins with a call whose result has the type of its first type
        argument, empty for other code."""
        call = self._typed_calls.match(text) if self._typed_calls is not None else None
        opening = closing_end(text, call.end() - 1, "<") if call is not None else 0
        if call is None or text[opening : opening + 1] != "(":
            return ""
        written = to_type(text[call.end() : opening - 1], self.rules)
        found = self._value_of_type(written, at, self.scopes[at].end - 1)
        if end := closing_end(text, opening, "("):
            steps = to_expression(f"_{text[end:]}", self.rules.name_marks)[1:]
            return f"{found}{steps}" if found and (steps or end == len(text)) else ""
        return ""

    @cached_property
    def _typed_calls(self) -> re.Pattern[str] | None:
        names = self.rules.typed_calls
        return re.compile(rf"(?:\w+::)*(?:{'|'.join(names)})<") if names else None

    def _is_from_module(self, text: str) -> bool:
        """Return whether a path begins with the word for the own or the parent module."""
        first, separator, _ = text.partition(self.language.import_separator)
        return bool(separator and first) and first in (self.rules.own_module, self.rules.parent_module)

    @cached_property
    def _transparent(self) -> re.Pattern[str] | None:
        members = self.rules.transparent_members
        brackets = r"(?:\(\))?(?=[.(\[])" if self.rules.calls_without_marks else r"\(\)"
        return re.compile(rf"\.(?:{'|'.join(sorted(members))}){brackets}") if members else None

    @cached_property
    def _constructor(self) -> re.Pattern[str] | None:
        name = self.rules.constructor
        return re.compile(rf"\.{name}(?:\(\)|(?=\.))") if name else None

    def _rewritten(self, expression: str, at: int, position: int, most: int = _MOST_REPLACED) -> str:
        """Return an expression with its first name replaced by what the scope there says it is: `?…` where
        that is unknown, nothing for a name that no rule can follow."""
        inner = at
        if self.rules.packages_are_names:
            expression = self._named_own(expression, at)
        for _ in range(most):
            end = HEAD.match(expression).end()  # type: ignore[union-attr]
            head, rest = expression[:end], expression[end:]
            if not head or head[0] in "<{^?:":
                if head == STRING_TYPE and not self.rules.extensions_are_members:
                    return f"?{rest}"  # only functions from outside make a string tell anything
                return expression
            if self._implies and head[0].isupper() and self.rules.constants_are_lexical:
                return f"{self._implied(head, at)}{rest}"
            if head in self._own_words:
                return self._own_object(head, rest, at)
            inner = at
            if self._sees_members:
                found, at = self._lookup_in_classes(head, at, position, called=rest.startswith("()"))
            else:
                found, at = self._lookup(head, at, position)
            if found is None:
                break
            held = found.expression if found.match is None else self._held(found, at)
            if not held:
                return f"?{rest}"
            if held[0] in "<{^?:" or found.declared or held == head or self._is_lexical:
                return held + rest
            expression, position = held + rest, found.start
        return self._of_the_file(expression, head, rest, inner)

    def _replaced(self, found: Binding, at: int, head: str, rest: str) -> str:
        """Return the same for an expression that begins with a local name, given the value that a scope gives
        this name."""
        held = found.expression if found.match is None else self._held(found, at)
        if not held:
            return f"?{rest}"
        if held[0] in "<{^?:" or found.declared or held == head or self._is_lexical:
            return held + rest
        return self._rewritten(held + rest, at, found.start, _MOST_REPLACED - 1)

    def _of_the_file(self, expression: str, head: str, rest: str, at: int) -> str:
        """Return an expression that starts with no local name as the file knows it."""
        if self._implies:
            implied = self._implied(head, at)
            return f"{implied}{rest}" if implied else f"?{rest}"
        if head in self.file_names:
            return expression
        if head in self.rules.ignored or head[0] == "$" or not self._sees_other_names:
            return f"?{rest}"
        return f"{owners}:{expression}" if (owners := self._owners(at)) else expression

    def _own_object(self, head: str, rest: str, at: int) -> str:
        """Return an expression that starts with a word for the object around it, or for its bases."""
        if head in self.rules.self_names:
            return f"{self._own(at) or '?'}{rest}"
        rest = rest.removeprefix("()")
        if self.rules.implicit_self:
            called = self._super_method(at)
            return f"{called}(){rest}" if called else f"?{rest}"
        own = self._own(at)
        return f"{'^' if own[:1] == '{' else ''}{own or '?'}{rest}"

    def _known(self, written: str, at: int, position: int) -> str:
        """Return an expression as the file knows it, empty if it is unknown."""
        found = self._rewritten(written, at, position) if written else ""
        return "" if found.startswith("?") else found

    def _code(self, node: tree_sitter.Node) -> str:
        """Return the text of a value. Of a call whose arguments need no brackets, what counts ends with the
        name that is called."""
        if self.rules.call_name_field and node.type == "call":
            name = node.child_by_field_name(self.rules.call_name_field)
            if name is not None:
                return self.data[node.start_byte : name.end_byte].decode("utf-8", "replace") + "()"
        return self._text(node)

    def _value(self, text: str, at: int, position: int) -> str:
        """Return what the value of a binding is, without the calls that only wrap it."""
        for _ in range(_MOST_REPLACED) if self.rules.wrapping_calls else ():
            call = next((call for call in self.rules.wrapping_calls if text.startswith(f"{call}(")), "")
            if not call or text[-1:] != ")":
                break
            text = text[len(call) + 1 : -1].strip()
        written = self._expression(likely_value(text), at)
        if number := self._results_taken.get(position):
            written = f"{written[:-2]}({number})" if written.endswith("()") else ""
        return self._known(written, at, position)

    def _held_as_a_whole(self, match: Match, at: int, position: int) -> str:
        """Return what a binding holds, before a pattern takes it apart."""
        declared = match.get("bind.type") or match.get("bind.alias")
        if declared:
            return self._value_of_type(to_type(self._text(declared[0]), self.rules), at, position)
        if "bind.item" in match:
            found = self._type_here(to_type(self._text(match["bind.item"][0]), self.rules), at, position)
            return f"<[{found}]>" if found else ""
        if "bind.value" in match:
            return self._value(self._code(match["bind.value"][0]), at, position)
        if "bind.element" in match:
            written = self._expression(self._text(match["bind.element"][0]), at)
            return self._known(f"{written}[]" if written else "", at, position)
        return ""

    def _bound_expression(self, match: Match, at: int, position: int) -> str:
        """Return what the names of a binding hold."""
        expression = self._held_as_a_whole(match, at, position)
        if expression and "bind.member" in match:
            return f"{expression}.{self._text(match['bind.member'][0])}"
        return expression
