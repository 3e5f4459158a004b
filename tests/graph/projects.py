"""Resolve a small project that is given as text: the edges of its files as readable lines."""

from __future__ import annotations

from collections import defaultdict
from importlib import import_module

from satchel import languages
from satchel.chunking.syntax import parse_here
from satchel.code_facts import Rule, used_name
from satchel.graph.interfaces import make_interface
from satchel.graph.modules.module_system import FileTable
from satchel.graph.resolver import Definition, Resolver
from satchel.languages import detect
from satchel.parsed import Parsed


class Project:
    """A project of one language, parsed and ready to be asked."""

    def __init__(self, files: dict[str, str], language: str) -> None:
        rules = languages.get(language).graph
        assert rules is not None
        self.parsed: dict[str, Parsed] = {
            path: parse_here(text, language)
            for path, text in sorted(files.items())
            if detect(path, text.split("\n", 1)[0]) == language
        }
        shown = {
            path: make_interface(path, language, parsed.facts, parsed.symbols)
            for path, parsed in self.parsed.items()
        }
        definers = defaultdict(list)
        for path, interface in shown.items():
            for name in interface.kinds:
                definers[name].append(path)
        table = FileTable(tuple(self.parsed), frozenset(files), lambda path: files.get(path, ""))
        modules = import_module(f"satchel.graph.modules.{rules.modules}").MODULES.open(table)
        self.resolver = Resolver(
            modules, shown.get, lambda name: definers.get(name, ()), open_types=rules.open_types
        )

    def edges(self) -> set[str]:
        """Return the resolved uses: `cart.rs:12 total → basket.rs Basket.total (self)`."""
        found = set()
        for path, parsed in self.parsed.items():
            for use in parsed.facts.uses:
                answer = self.resolver.resolve(path, use.expression)
                if answer is None or not isinstance(answer.meaning, Definition):
                    continue
                name, target = used_name(use.expression), answer.meaning
                if answer.rule is not Rule.IMPORT and name != target.name.rpartition(".")[2]:
                    continue
                found |= {
                    f"{path}:{line} {name} → {target.path} {target.name} ({answer.rule})"
                    for line in use.lines
                }
        return found

    def imports(self) -> set[str]:
        """Return which file loads which: `main.rs → basket.rs`."""
        found = set()
        for path, parsed in self.parsed.items():
            for item in parsed.facts.imports:
                module = self.resolver.module_of(path, item)
                found |= {f"{path} → {other}" for other in (module.paths if module else ()) if other != path}
        return found


def edges_of(files: dict[str, str], language: str) -> set[str]:
    """Return the resolved uses of a project."""
    return Project(files, language).edges()


def imports_of(files: dict[str, str], language: str) -> set[str]:
    """Return which file of a project loads which."""
    return Project(files, language).imports()
