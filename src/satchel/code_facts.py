"""What a file says about names, and what its uses of names mean: the vocabulary of the code graph.

Parsing notes `FileFacts`: what a file imports, which types its variables, attributes and results have, and
every use of a name that may be defined elsewhere. Nothing in them depends on the path or on other files. The
graph stage resolves the uses of all files to definitions: `FileEdges`.

A *use* is kept as an expression over names that the whole file knows. Local variables are replaced where they
are used by what they hold, so that an expression means the same wherever it stands in the file:

    expression = head step…          head = NAME | <TYPE> | {TYPE} | ^TYPE | SEEN:NAME | :MODULE:NAME | ?
    step       = .NAME | () | []     TYPE = NAME(.NAME)… | SEEN:NAME(.NAME)… | [TYPE]
                                     SEEN = {TYPE}… | <TYPE>…

`<T>` is a value of type T, `{T}` the object whose class T the code is part of (`self`, `this`), `^T` that
object seen as its base classes (`super`), and `?` something unknown. `{T}{U}:NAME` is a name as the code
inside of T, which is inside of U, sees it: a member of T, which may have it from a base, then one of U, then
a name of the file. `:M:NAME` is a constant of Ruby as the code inside of module M sees it. `()` is the result
of a call, `[]` an element; `[T]` is the type of a container with elements of type T. A use of a type as a
type is `<T>` where the language tells types and values of one name apart. A name with a leading `\\` is
looked for from the outermost namespace only. Three lines of Python and what is kept:

    client = Client(url)
    client.send(request)         →  Client().send
    self.pool.acquire().close()  →  {Session}.pool.acquire().close
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from itertools import accumulate, chain
from struct import unpack_from

import msgspec

from satchel.types import Label, Reference

_LABELS = tuple(Label)
_LABEL_NUMBERS = {label: number for number, label in enumerate(_LABELS)}
_USES = _LABEL_NUMBERS[Label.USES]
_TELLING = frozenset(range(len(_LABELS))) - {_USES, _LABEL_NUMBERS[Label.IMPORTS]}  # whatever their name is
ALL_NAMES = "*"
"""The imported name of an import that brings every name of a module."""

ELEMENTS = "[]"
"""The attribute of a type that is another name of a container: that container."""


DEFAULT_NAME = "default"
"""The imported name of an import that takes what a module exports without a name."""

WHOLE_MODULE = "="
"""The name that a file gives to what it is as a whole (`module.exports = Basket`)."""


class Rule(StrEnum):
    """Which rule decided what a use means. An edge that took several has the least certain of them."""

    SCOPE = "scope"  # the name is defined in the same file, around the use or at its top
    IMPORT = "import"  # an import of the file binds the name
    PACKAGE = "package"  # a file of the same package or namespace defines the name
    LINKAGE = "linkage"  # the one definition that the linker would find (C, C++)
    SELF = "self"  # a member of the class around the use, or of its bases
    CONSTRUCTOR = "constructor"  # a member of the class that the receiver was made with
    ANNOTATION = "annotation"  # a member of the type that the receiver is declared with
    ATTRIBUTE = "attribute"  # a member of the type that an attribute of the receiver has
    RETURN = "return"  # a member of the type that a call returns
    SCIP = "scip"  # said by an index of the language's own compiler


CONFIDENCE = {
    Rule.SCOPE: 0.99,
    Rule.IMPORT: 0.99,
    Rule.PACKAGE: 0.98,
    Rule.LINKAGE: 0.98,
    Rule.SELF: 0.98,
    Rule.CONSTRUCTOR: 0.98,
    Rule.ANNOTATION: 0.97,
    Rule.ATTRIBUTE: 0.96,
    Rule.RETURN: 0.96,
    Rule.SCIP: 0.99,
}
"""The share of the uses decided by each rule that compilers confirm (`benchmarks/results/graph.txt`, for SCIP
`graph_scip.txt`)."""
POSSIBLE = 0.02
"""The share of the uses of the same name, decided by no rule, that mean a given definition."""
POSSIBLE_IN = {"cpp": 0.21, "javascript": 0.14, "tsx": 0.14, "typescript": 0.14}
"""The same for languages in which more is left open: values whose types only inference knows."""


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One name that an import statement binds.

    `module` is as written. `imported` is the name inside the module, empty if the module itself is bound,
    `ALL_NAMES` for all its names. `name` is what the file calls it, empty if nothing is bound
    (`#include`, an import for its effects).
    """

    name: str
    module: str
    imported: str
    line: int


class TypedName(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a name of the file or an attribute of a class holds. `owner` is the qualified name of the class,
    empty for a name of the file; `+T` for the function of that qualified name, which extends the type T."""

    owner: str
    name: str
    expression: str


class Use(msgspec.Struct, frozen=True, array_like=True):
    """An expression that uses a name, its last one, and the lines of the file where it does so, ascending."""

    expression: str
    label: Label
    lines: tuple[int, ...]


class UseColumns(msgspec.Struct, frozen=True, array_like=True):
    """The uses of a file as columns. A repository has hundreds of thousands: one value for each would take
    most of the time that reading them takes."""

    expressions: tuple[str, ...] = ()
    labels: bytes = b""  # the number of the label of each
    ends: bytes = b""  # where the lines of each end, 4 bytes each
    lines: bytes = b""  # 4 bytes each

    @classmethod
    def of(cls, uses: Iterable[tuple[str, Label, Collection[int]]]) -> UseColumns:
        """Return uses as columns: an expression, its label and its lines each."""
        rows = list(uses)
        if not rows:
            return cls()
        expressions, labels, lines = zip(*rows, strict=True)
        ends = array("I", accumulate(map(len, lines)))
        numbers = bytes(map(_LABEL_NUMBERS.__getitem__, labels))
        return cls(expressions, numbers, _little(ends), _little(array("I", chain.from_iterable(lines))))

    def __len__(self) -> int:
        return len(self.expressions)

    def __getitem__(self, number: int) -> Use:
        ends = self.ends
        start = unpack_from("<I", ends, 4 * number - 4)[0] if number else 0
        (end,) = unpack_from("<I", ends, 4 * number)
        lines = unpack_from(f"<{end - start}I", self.lines, 4 * start)
        return Use(self.expressions[number], _LABELS[self.labels[number]], lines)

    def __iter__(self) -> Iterator[Use]:
        return map(self.__getitem__, range(len(self.expressions)))


def _little(numbers: array[int]) -> bytes:
    """Return numbers of 4 bytes with the lowest byte first, on any machine."""
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()


class FileFacts(msgspec.Struct, frozen=True, array_like=True):
    """What one file says about names."""

    package: str = ""  # the package or namespace clause, as written
    imports: tuple[Import, ...] = ()
    values: tuple[TypedName, ...] = ()  # of variables and attributes; also names that a file hands on
    bases: tuple[tuple[str, str], ...] = ()  # (qualified name of a class, TYPE), in order
    returns: tuple[tuple[str, str], ...] = ()  # (qualified name of a function, expression of its result)
    uses: UseColumns = UseColumns()
    exports: tuple[str, ...] = ()  # the names that others see, sorted; empty where the language does not say
    separator: str = "."  # between a module and a name in it, as the language writes it; empty if it has none


class Target(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an edge leads to: a definition by its qualified name, or a whole file if that is empty.

    Lines are left out: they change with every edit of the file, and its symbols know them.
    """

    path: str
    name: str = ""
    is_value: bool = False  # the file has a type of this name too, and the use does not mean the type


class FileEdges(msgspec.Struct, frozen=True, array_like=True):
    """The resolved uses of one file. Numbers are positions in `targets` and in the lists of its facts."""

    targets: tuple[Target, ...] = ()
    uses: tuple[tuple[int, int, Rule], ...] = ()  # (use, target, rule), by use
    imports: tuple[tuple[int, int], ...] = ()  # (import, target that is a file), by import
    # (line, name, label, target, rule), by line: uses whose meaning is known for one line, not for all lines
    # of an expression. Only an index of a compiler says that much.
    by_line: tuple[tuple[int, str, Label, int, Rule], ...] = ()


class ScipUses(msgspec.Struct, frozen=True, array_like=True):
    """What a SCIP index says about one file, as far as it fits the text of the file and what others define.

    `shown` is the hash of what the file showed to others at that time. A use is (line, name, target,
    covered): name and target are positions in `names` and `targets`, and `covered` is 1 if the index knows
    the meaning of every occurrence of the name on that line.
    """

    shown: str = ""
    names: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    uses: tuple[tuple[int, int, int, int], ...] = ()


def used_name(expression: str) -> str:
    """Return the name that an expression uses, its last one."""
    name = expression.rpartition(".")[2]
    if name.isidentifier():  # nine of ten
        return name
    return expression.rpartition(".")[2].rpartition(":")[2].partition("@")[0].strip("<>{}^\\")


def references_of(facts: FileFacts) -> tuple[Reference, ...]:
    """Return the imports, calls, bases and used types of a file one by one, by line.

    Each use is given by its last name alone, as for languages without rules. Names that are neither called
    nor like those of types are left out: they are most of all uses, and say least about what a file does.
    """
    found: set[tuple[int, Label, str]] = set()
    for use in facts.uses:
        name = used_name(use.expression)
        if _is_telling(name, use.label):
            found.update((line, use.label, name) for line in use.lines)
    for item in facts.imports:
        found.add((item.line, Label.IMPORTS, _written(item, facts.separator)))
    return tuple(Reference(name, label, line) for line, label, name in sorted(found))


def imports_of(facts: FileFacts) -> list[str]:
    """Return what a file imports as written, each once, in its order."""
    return list(dict.fromkeys(_written(item, facts.separator) for item in facts.imports))


def telling_names(facts: FileFacts) -> list[str]:
    """Return the names of the calls, bases and types that a file uses, each once, sorted."""
    # A repository has hundreds of thousands of uses, so their labels stay numbers.
    names = zip(map(used_name, facts.uses.expressions), facts.uses.labels, strict=True)
    return sorted(
        {name for name, label in names if label in _TELLING or (label == _USES and name[:1].isupper())}
    )


def _is_telling(name: str, label: Label) -> bool:
    number = _LABEL_NUMBERS[label]
    return number in _TELLING or (number == _USES and name[:1].isupper())


def _written(item: Import, separator: str) -> str:
    if not separator or item.imported in ("", ALL_NAMES):
        return item.module
    return item.module + ("" if item.module.endswith(separator) else separator) + item.imported
