"""Find the members of classes: their own, those of their parts in other files, those of their bases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from satchel.code_facts import Rule
from satchel.graph.answers import Answer, all_names_key, folder_key, linkage_key, rules_of, weaker
from satchel.graph.file_names import FileNames
from satchel.graph.interfaces import Definition, Interface, Member
from satchel.graph.module_names import MOST_PATHS_NOTED
from satchel.graph.questions import Members
from satchel.types import ChunkKind

_MOST_BASES = 60  # classes that a member is looked for in


class ClassMembers(FileNames):
    """Knows the members of classes."""

    def _is_type(self, shown: Interface, name: str) -> bool:
        """Return whether a qualified name is that of a type; modules are types where types are open."""
        if shown.is_type(name):
            return True
        return self._has_open_types and shown.kinds.get(name) is ChunkKind.MODULE

    def _own_class(self, shown: Interface, name: str) -> Definition | None:
        """Return the class of a qualified name in a file, or in its package (Go, Rust, Kotlin)."""
        if shown.kinds.get(name) is not None:
            return Definition(shown.path, name)
        answer = self.name(shown.path, name)
        return answer.meaning if answer is not None and isinstance(answer.meaning, Definition) else None

    def _type_member(self, owner: Definition, name: str, rule: Rule, *, above: bool = False) -> Answer | None:
        """Return a member of a class, or of the first of its bases that has it."""
        if self._modules.members_are_spread:
            question = "member above" if above else "member"
            answer = self._guarded(owner.path, question, f"{owner.name}.{name}")
            return Answer(answer.meaning, weaker(rule, answer.rule)) if answer is not None else None
        members = self._members_of(owner)
        self._consulted |= members.consulted
        if members.is_spread:
            self._consulted.add(linkage_key(name))
        for each in members.of_bases if above else members.own:
            if name in each:
                found = each[name]
                break
        else:
            return None
        if isinstance(found, Definition):
            return Answer(found, rule)
        for path, expression in found:
            held = self._guarded(path, "value", expression)
            if held is not None:
                return Answer(held.meaning, weaker(rule, Rule.ATTRIBUTE))
        return None

    def _find_spread_member(self, path: str, qualified: str, *, above: bool) -> Answer | None:
        """Return a member of a class, or of the first of its bases that has it, where members may stand in
        other files than their class."""
        owner, _, name = qualified.rpartition(".")
        for one in self._with_bases(Definition(path, owner)):
            shown = self._look(one.path, one.name)
            if shown is None or (above and one.name == owner):
                continue
            inner = f"{one.name}.{name}"
            if inner in shown.kinds:
                return Answer(Definition(one.path, inner), Rule.SCOPE)
            for other in sorted(self._definers(inner)):
                if other != one.path and self._is_member_of(other, one):
                    return Answer(Definition(other, inner), Rule.SCOPE)
            for expression in shown.values.get((one.name, name), ()):
                held = self._guarded(one.path, "value", expression)
                if held is not None:
                    return Answer(held.meaning, Rule.ATTRIBUTE)
        return None

    def _is_member_of(self, path: str, owner: Definition) -> bool:
        """Return whether what a file defines below the name of a class belongs to that class of another
        file."""
        shown = self._look(path, owner.name)
        if shown is None:
            return False
        if self._has_open_types:
            return self._is_type(shown, owner.name)
        return self._own_class(shown, owner.name) == owner

    def _members_of(self, owner: Definition) -> Members:
        """Return the members of a class together with those that it inherits, found once."""
        kept = self._members.get(owner)
        if kept is not None:
            return kept
        before, cut = self._consulted, self._cut
        self._consulted = set()
        own: list[Mapping[str, Member]] = []
        of_bases: list[Mapping[str, Member]] = []
        is_spread = False
        for at, one in enumerate(self._with_bases(owner)):
            shown = self._look(one.path, one.name)
            if shown is None:
                continue
            others = self._beside(one.path)
            is_spread = is_spread or len(others) >= MOST_PATHS_NOTED
            found = [each.members(one.name) for each in (shown, *others)]
            own += filter(None, found)
            if at and one.name != owner.name:
                of_bases += filter(None, found)
        made = Members(own, of_bases, frozenset(self._consulted), is_spread)
        if self._cut == cut or not self._open:
            self._members[owner] = made
        before |= self._consulted
        self._consulted = before
        return made

    def _beside(self, path: str) -> list[Interface]:
        """Return the other files of a shared package: a method of Go may stand in any of them."""
        home = self._modules.home(path)
        if home is None or not home.shared:
            return []
        self._consulted.add(folder_key(path))
        if len(home.paths) <= MOST_PATHS_NOTED:
            self._consulted.update(home.paths, map(all_names_key, home.paths))
        found = (self._interface_of(each) for each in home.paths if each != path)
        return [shown for shown in found if shown is not None]

    def _with_bases(self, owner: Definition) -> Iterator[Definition]:
        """Yield a class and its bases, each once, nearest first."""
        seen: set[Definition] = set()
        waiting = [owner]
        while waiting and len(seen) < _MOST_BASES:
            found = waiting.pop(0)
            if found in seen:
                continue
            seen.add(found)
            yield found
            shown = self._look(found.path, found.name)
            if shown is None:
                continue
            if parts := self._parts_of(found, shown):
                waiting = parts + waiting
            for base in shown.bases.get(found.name, ()):
                answer = self._guarded(found.path, "base", base)
                if answer is not None and isinstance(answer.meaning, Definition):
                    waiting.append(answer.meaning)

    def _parts_of(self, owner: Definition, shown: Interface) -> list[Definition]:
        """Return the other definitions that make up a type together with one. `shown` is the file of that
        one."""
        if not (self._has_open_types or rules_of(shown).types_have_parts):
            return []
        self._consulted.add(linkage_key(owner.name.rpartition(".")[2]))
        return [Definition(path, owner.name) for path in self._modules.parts(owner.path, owner.name)]
