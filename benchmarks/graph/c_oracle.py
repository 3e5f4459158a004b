"""The truth about a C repository: clangd's references over an index of all its files.

Limits: code that the preprocessor leaves out has no references, and its lines are not judged. clangd takes
a struct's tag and its typedef for two symbols; they are one definition here where both have the same name.
A use that only the expansion of a macro brings is not counted: its line does not have the name. A header is
indexed as the first file sees that includes it: names that another includer would give it are missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from graph.clangd import (
    Build,
    by_path,
    line_of,
    macros,
    start_command,
    wait_for_index,
    write_commands,
)
from graph.language_server import LanguageServer
from graph.repositories import Lab, Repository, listed_files
from graph.truth import Definition, Place, Truth, collect

_BUILDS = {
    "jq": Build(
        ("src/*.c", "tests/*.c"),
        (
            *("-Isrc", "-Ivendor/decNumber", "-D_GNU_SOURCE", "-DIEEE_8087=1", '-DJQ_VERSION="1"'),
            *("-DHAVE_LIBONIG=1", "-DUSE_DECNUM=1", "-DHAVE_TM_TM_GMT_OFF=1"),
            *("-DHAVE_PTHREAD=1", "-DHAVE_PTHREAD_KEY_CREATE=1"),
        ),
    ),
    "redis": Build(
        ("src/*.c",),
        (
            *("-Isrc", "-Ideps", "-Ideps/hiredis", "-Ideps/linenoise", "-Ideps/lua/src"),
            *(
                "-Ideps/hdr_histogram",
                "-Ideps/fpconv",
                "-D_GNU_SOURCE",
                "-DREDIS_STATIC=",
                "-DLUA_USE_MKSTEMP",
            ),
        ),
    ),
}


def ask(lab: Lab, repository: Repository, definitions: Sequence[Definition], commit: str) -> Truth:
    """Return the truth about a C repository, as far as its files are compiled."""
    clone = lab.clone(repository)
    build = _BUILDS[repository.name]
    sources = sorted(
        {path.relative_to(clone).as_posix() for glob in build.sources for path in clone.glob(glob)}
    )
    commands = write_commands(lab.tools / "clangd" / repository.name, clone, sources, build.flags)
    folders = {source.rpartition("/")[0] for source in sources}
    files = [path for path in listed_files(clone, repository.suffixes) if path.rpartition("/")[0] in folders]
    with LanguageServer(start_command(commands), clone, "c") as server:
        server.open(sources[0])
        wait_for_index(server)
        for path, members in by_path(definitions, set(files)).items():
            _ask_file(server, clone, path, members)
            server.close(path)
    truth = collect(repository, commit, files, definitions)
    truth.left_out = {path: lines for path, lines in sorted(server.inactive.items()) if lines}
    return truth


def _ask_file(server: LanguageServer, clone: Path, path: str, definitions: Sequence[Definition]) -> None:
    """Ask about all definitions of one file."""
    outline = [*server.outline(path), *macros(clone, path)]
    for definition in definitions:
        definition.names = sorted(
            place
            for name, place in outline
            if name == definition.name and any(start <= place.line <= end for start, end in definition.ranges)
        )
        uses = {use for place in definition.names for use in server.references(place)}
        if definition.group == "type":
            for place in list(_typedefs(clone, definition.name, uses)):
                uses.update(server.references(place))
        own = {(place.path, place.line) for place in definition.names}
        written = (use for use in uses if line_of(clone, use)[use.column :].startswith(definition.name))
        definition.take_uses(use for use in written if (use.path, use.line) not in own)
        if not uses and _is_macro(clone, definition):
            definition.names = []  # most likely the preprocessor leaves its definition out


def _is_macro(clone: Path, definition: Definition) -> bool:
    """Return whether a definition is one of the macros of its file."""
    return any((definition.name, place) in macros(clone, definition.path) for place in definition.names)


def _typedefs(clone: Path, name: str, uses: set[Place]) -> Iterator[Place]:
    """Return where `typedef struct X X;` gives a struct its own name once more."""
    pattern = re.compile(rf"\s*typedef\b.*\b({re.escape(name)})\s*;")
    for use in sorted(uses):
        match = pattern.match(line_of(clone, use))
        if match and match.start(1) > use.column:
            yield Place(use.path, use.line, match.start(1))
