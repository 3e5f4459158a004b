"""Find names in the modules and packages that imports lead to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from satchel.code_facts import DEFAULT_NAME, WHOLE_MODULE, Import, Rule
from satchel.graph.answers import Answer, all_names_key, folder_key, import_key, linkage_key, rules_of, weaker
from satchel.graph.interfaces import Definition, Interface
from satchel.graph.modules.module_system import Module
from satchel.graph.questions import Questions
from satchel.languages.language import OuterPackages

NAME = re.compile(r"[^\W\d]\w*")
MOST_PATHS_NOTED = 16  # files of a package; in a larger one the names that were looked for are noted


@lru_cache(maxsize=20_000)
def _import_keys(written: str) -> tuple[str, ...]:
    """Return what a file notes that imports a module as written."""
    # `./line-items.js` may lead to a new file `line-items.ts`, and `..` to a new `index.ts`.
    stem = written.rpartition("/")[2].partition(".")[0] or "index"
    return tuple(import_key(name) for name in (*NAME.findall(written)[-2:], stem))


class ModuleNames(Questions):
    """Knows the names of modules."""

    def _module(self, path: str, written: str) -> Module | None:
        """Return the module of an import as written, and note that it was looked for."""
        found = self._found_modules.get((path, written))
        if found is None:
            module = self._modules.module(path, written)
            folders = map(folder_key, module.paths if module is not None else ())
            # Nothing but the import may lead to an included file.
            included = module.paths if module is not None and self._modules.has_linkage else ()
            found = module, frozenset((*_import_keys(written), *folders, *included))
            self._found_modules.keep((path, written), found)
        module, keys = found
        self._consulted |= keys
        return module

    def _submodule(self, module: Module, name: str) -> Module | None:
        self._consulted.add(import_key(name))
        return self._modules.submodule(module, name)

    def _is_bound(self, module: Module, name: str) -> bool:
        """Return whether a file of a module binds a name."""
        for path in module.paths:
            shown = self._look(path, name)
            if shown is None:
                continue
            if name in shown.kinds or ("", name) in shown.values:
                return True
            # A package that imports a module below itself binds that module, not another thing of its name.
            if any(self._modules.module(path, item.module) != module for item in shown.imports.get(name, ())):
                return True
        return False

    def _imported(self, path: str, item: Import) -> Answer | None:
        if self._finds_by_name:
            around = self._guarded(path, "module", item.module)
            return self._member(around, item.imported) if around is not None and item.imported else around
        module = self._module(path, item.module)
        if module is None:
            inner = self._by_path(path, item)
            return Answer(inner.meaning, weaker(inner.rule, Rule.IMPORT)) if inner is not None else None
        if not item.imported:
            return self._whole(module) or Answer(module, Rule.IMPORT)
        found = self._module_member(module, item.imported, Rule.IMPORT)
        if found is None and item.imported == DEFAULT_NAME:
            return self._whole(module)
        return found

    def _by_path(self, path: str, item: Import) -> Answer | None:
        """Return what an import names step by step, if its module is no file: a module inside of one, a
        type, a module under another name."""
        written = self._modules.inner_path(item.module)
        if not written or ("." not in written and not item.imported):
            return None
        return self._guarded(path, "path", f"{written}.{item.imported}" if item.imported else written)

    def _whole(self, module: Module) -> Answer | None:
        """Return what a module says that it is as a whole, if it does."""
        for path in module.paths:
            shown = self._look(path, WHOLE_MODULE)
            if shown is not None and ("", WHOLE_MODULE) in shown.values:
                found = self.name(path, WHOLE_MODULE)
                return Answer(found.meaning, weaker(found.rule, Rule.IMPORT)) if found is not None else None
        return None

    def _written_module(self, path: str, written: str) -> Answer | None:
        """Return the module of an import, or the type that it imports from: `import static a.Type.name`."""
        if not self._finds_by_name or "/" in written:
            module = self._module(path, written)
            return Answer(module, Rule.IMPORT) if module is not None else None
        answer: Answer | None = Answer(Module("", importer=path), Rule.IMPORT)
        for name in NAME.findall(written):
            answer = self._member(answer, name) if answer is not None else None
        return answer

    def _module_member(self, module: Module, name: str, rule: Rule) -> Answer | None:
        """Return a name of a module: of one of its files, or a module below it."""
        found = self._package_member(module, name)
        if found is not None:
            return Answer(found.meaning, weaker(rule, found.rule))
        below = self._module_below(module, name)
        return Answer(below.meaning, weaker(rule, Rule.IMPORT)) if below is not None else None

    def _module_below(self, module: Module, name: str) -> Answer | None:
        below = self._submodule(module, name)
        return Answer(below, Rule.IMPORT) if below is not None else None

    def _package_member(self, module: Module, name: str) -> Answer | None:
        if self._finds_by_name and not module.paths:
            self._consulted.add(linkage_key(name.rpartition(".")[2]))
            if not self._modules.is_defined(name):
                return None
            known = self._modules.definition(module, name)
            return Answer(Definition(*known), Rule.SCOPE) if known is not None else None
        if module.shared:
            path = self._package_path(module, name)
            return Answer(Definition(path, name), Rule.SCOPE) if path else None
        for path in module.paths:
            shown = self._look(path, name)
            if shown is None or name not in shown.kinds or name in shown.imports:
                continue
            if not shown.exports or name in shown.exports:
                return Answer(Definition(path, name), Rule.SCOPE)
        for path in module.paths:
            found = self.name(path, name) if self._shows(path, name) else self._handed_on(path, name)
            if found is not None:
                return found
        return None

    def _package_path(self, module: Module, name: str) -> str:
        """Return the first file of a shared package that defines a qualified name, empty if none does."""
        if len(module.paths) <= MOST_PATHS_NOTED:
            self._consulted.update(module.paths, map(all_names_key, module.paths))
        else:
            self._consulted.add(linkage_key(name.rpartition(".")[2]))
        if module.name not in self._packages:
            found: dict[str, str] = {}
            for each in reversed(module.paths):
                shown = self._interface_of(each)
                found.update(dict.fromkeys(shown.kinds, each) if shown is not None else {})
            self._packages[module.name] = found
        path = self._packages[module.name].get(name, "")
        if path:
            self._consulted.add(path)
        return path

    def _shows(self, path: str, name: str) -> bool:
        """Return whether others see a name of a file. A file that does not say which they are shows all."""
        shown = self._look(path, name)
        return shown is None or not shown.exports or name in shown.exports

    def _handed_on(self, path: str, name: str) -> Answer | None:
        """Return a name of the modules whose names a file hands on as its own."""
        return self._guarded(path, "star", name)

    def _outermost(self, path: str, name: str) -> Answer | None:
        """Return a definition of no package, or an outermost package."""
        return self._module_member(Module("", importer=path), name, Rule.IMPORT)

    def _homes(self, shown: Interface) -> Sequence[Module]:
        """Return the packages whose names a file sees without importing them, nearest first."""
        home = self._modules.home(shown.path)
        if home is None:
            return ()
        if not self._finds_by_name:
            return (home,)
        found = [home]
        outer = rules_of(shown).outer_packages
        around = self._modules.outer(home) if outer is not OuterPackages.NONE else None
        while around is not None:
            if outer is OuterPackages.ALL or not around.name:
                found.append(around)
            around = self._modules.outer(around)
        return found
