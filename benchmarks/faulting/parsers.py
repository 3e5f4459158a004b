"""Every parser of ours as a function of bytes that fails when a promise of that parser does not hold.

A check may end with a `SatchelError`, which is how bad input is refused; any other exception is a defect.
What a check compares with (lines, globs, token counts, JSON) is computed here or by somebody else's code.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import msgspec

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "tokenizers")]

from builders import (  # noqa: E402
    SHOP,
    dump_tables,
    git_repo,
    make_engine,
    make_item,
    make_pack,
    make_tree,
    packed,
    session_of,
)
from originals import original_count  # noqa: E402

from satchel import ids, languages, plugins, settings, tokenizers  # noqa: E402
from satchel.chunking import parse_source  # noqa: E402
from satchel.commands import payloads  # noqa: E402
from satchel.commands.context_pack import ContextPackRequest  # noqa: E402
from satchel.commands.context_pack import run as context_pack  # noqa: E402
from satchel.commands.verify import VerifyRequest  # noqa: E402
from satchel.commands.verify import run as verify  # noqa: E402
from satchel.engine import Engine  # noqa: E402
from satchel.errors import Internal, SatchelError  # noqa: E402
from satchel.evaluation import cases, saved  # noqa: E402
from satchel.parsed import Parsed  # noqa: E402
from satchel.rendering.packs import quoting  # noqa: E402
from satchel.retrieval import intent, issue_text, locators, query, query_terms, tracebacks  # noqa: E402
from satchel.retrieval.filters import Filters, under  # noqa: E402
from satchel.serving.dispatcher import Dispatcher  # noqa: E402
from satchel.serving.envelope import decode as decode_envelope  # noqa: E402
from satchel.serving.envelope import encode as encode_envelope  # noqa: E402
from satchel.serving.installing import json_settings, toml_settings  # noqa: E402
from satchel.serving.mcp import paging  # noqa: E402
from satchel.settings import WalkOptions  # noqa: E402
from satchel.storage import postings, records  # noqa: E402
from satchel.storage.memory import MemoryStore  # noqa: E402
from satchel.types import Skipped  # noqa: E402
from satchel.verifying import saved_pack  # noqa: E402
from satchel.verifying.json_pack import read_json  # noqa: E402
from satchel.walking import git, git_diff, history, ignore_rules, paths, redaction  # noqa: E402
from satchel.walking.source_reader import decode, read_source  # noqa: E402

_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SHA = "0123456789" * 4
_KEYS = ("mcpServers", "satchel")
_ENTRY: dict[str, Any] = {"command": "satchel", "args": ["serve", "mcp"]}
_MOST_OF_A_GLOB = 60  # characters of the patterns and paths that are matched a second time, by steps


class Parser(NamedTuple):
    """A parser under trial: what must hold of any bytes, and bytes to begin with."""

    check: Callable[[bytes], None]
    seeds: Callable[[], Sequence[bytes]]


def text_of(data: bytes) -> str:
    """The text that a file with these bytes would be read as; bytes that are no text are read by force."""
    decoded = decode(data)
    return decoded[0] if decoded is not None else data.decode("utf-8", "replace")


# --- files ---


def check_chunks(language: str, data: bytes) -> None:
    """Chunks are exact lines, each line with text is in one of them, and all else lies within the file."""
    text = text_of(data)
    parsed = parse_source(text, language)
    lines = _LINE.findall(text)
    covered = [0] * len(lines)
    for chunk in parsed.chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= len(lines), "lines of a chunk"
        assert chunk.text == "".join(lines[chunk.start_line - 1 : chunk.end_line]), "text of a chunk"
        assert 0 <= chunk.body_offset <= len(chunk.text), "offset of a body"
        for line in range(chunk.start_line - 1, chunk.end_line):
            covered[line] += 1
    assert all(count == 1 for count, line in zip(covered, lines, strict=True) if line.strip()), "coverage"
    assert max(covered, default=0) <= 1, "a line twice"
    check_places(parsed, len(lines))


def check_places(parsed: Parsed, line_count: int) -> None:
    """Symbols, references and comments lie within the file."""
    for symbol in parsed.symbols:
        assert symbol.name, "a symbol without a name"
        assert 1 <= symbol.start_line <= symbol.end_line <= line_count, "lines of a symbol"
    for reference in parsed.references:
        assert reference.name, "a reference without a name"
        assert 1 <= reference.line <= line_count, "line of a reference"
    for first, last in parsed.comments:
        assert 1 <= first <= last <= line_count, "lines of a comment"


def check_kept(data: bytes) -> None:
    """What a store keeps of a file is what was parsed."""
    text = text_of(data)
    for path in ("a.py", "a.md"):
        _, kept = packed(path, text)
        parsed = parse_source(text, languages.detect(path))
        assert records.unpack_text(kept.text) == text, "text"
        assert records.unpack_extras(kept.extras) == (parsed.references, parsed.comments), "references"
        assert records.unpack_facts(kept.facts) == parsed.facts, "facts"
        records.unpack_outline(kept.outline)


def check_reader(data: bytes) -> None:
    """A file is read exactly or left out; where something was redacted, in those lines alone."""
    name, _, content = data.partition(b"\n")
    path = name.decode("utf-8", "replace").replace("\0", "") or "a.py"
    found = read_source(path, content, WalkOptions(), languages.detect)
    if isinstance(found, Skipped):
        return
    if not found.redactions:
        assert found.text.encode(found.encoding) == content, "not exact"
    assert found.language in plugins.names("language"), found.language


def check_encodings(data: bytes) -> None:
    """A text encodes to its bytes again."""
    decoded = decode(data)
    assert decoded is None or decoded[0].encode(decoded[1]) == data, "not exact"


def check_redaction(data: bytes) -> None:
    """Only the lines that are named differ, and there are as many as before."""
    text = text_of(data)
    found = redaction.redact(text)
    before, after = _LINE.findall(text), _LINE.findall(found.text)
    assert len(before) == len(after), "number of lines"
    changed = {number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]}
    assert changed == set(found.lines) and list(found.lines) == sorted(found.lines), "lines"


# --- questions and addresses ---


def check_question(data: bytes) -> None:
    """A question can be taken apart, and asked."""
    text = data.decode("utf-8", "surrogateescape" if data[:1] < b"\x20" else "replace")
    found = query.parse_query(text)
    query_terms.weigh_terms(found)
    intent.detect_intents(found)
    issue_text.split(text)
    tracebacks.deepest_last(tracebacks.find_frames(text), text)
    hits, suggestions = shop().search(text, 5)
    msgspec.json.encode([hits, suggestions])


def check_locators(data: bytes) -> None:
    """An id that is asked for has its possible_locators; a path has one document id that leads back to it."""
    text = data.decode("utf-8", "surrogateescape")
    for reading in locators.possible_locators(text):
        assert reading.path in text, "a path that was not asked for"
        list(locators.possible_paths(reading.path))
    locators.looks_like_id(text)
    for part in locators.split_joined(text, lambda part: part.endswith(".py")):
        assert part.strip() and part in text, "a part that is not in it"
    shop().find([text])
    path = paths.check_relative(text)
    assert ids.path_of(ids.doc_of(path)) == path, "the document id leads elsewhere"


def check_globs(data: bytes) -> None:
    """A glob matches as its description says: compared with a matcher that goes step by step."""
    pattern, _, path = data.decode("utf-8", "replace").partition("\n")
    path = path.partition("\n")[0]
    found = under(path, pattern)
    plain = pattern.replace("\\", "/").strip()
    while plain.startswith("./"):
        plain = plain[2:]
    plain = "" if plain == "." else plain.strip("/")
    if not plain or max(len(plain), len(path)) > _MOST_OF_A_GLOB:
        return
    if "*" not in plain and "?" not in plain:
        expected = path == plain or path.startswith(plain + "/")
    else:
        expected = matches(plain if "/" in plain else "**/" + plain, path)
    assert found == expected, f"matches: {found}"
    record = shop().snapshot().files()[0]
    Filters(path_prefix=pattern, file_pattern=pattern, exclude_paths=(pattern,)).accepts_file(record)


def matches(pattern: str, path: str) -> bool:
    """Tell whether a glob matches a whole path, by the set of places that its parts can reach."""
    places = {0}
    for part in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]", pattern):
        reached: set[int] = set()
        for place in places:
            reached.update(_steps(part, path, place))
        places = reached
    return len(path) in places


def _steps(part: str, path: str, place: int) -> Iterator[int]:
    if part == "**/":
        yield place
        yield from (at + 1 for at in range(place, len(path)) if path[at] == "/")
    elif part == "**":
        yield from range(place, len(path) + 1)
    elif part == "*":
        slash = path.find("/", place)
        yield from range(place, (len(path) if slash < 0 else slash) + 1)
    elif place < len(path) and (path[place] == part if part != "?" else path[place] != "/"):
        yield place + 1


def check_ignore(data: bytes) -> None:
    """An ignore file of any content decides about any name."""
    rules = ignore_rules.IgnoreRules((".gitignore",), lambda folder, name: None if folder else data)
    for entry in ("src/basket.py", "src/", "a b.md", "docs/[x].md", data[:40].decode("utf-8", "replace")):
        rules.ignores("", entry)


# --- requests ---


def check_envelope(data: bytes) -> None:
    """A request gets an envelope that is JSON, and never an internal error."""
    answer = json.loads(encode_envelope(dispatcher().answer(decode_envelope(data))))
    assert (answer["status"] == "ok") == ("error" not in answer), answer["status"]
    if answer["status"] != "ok" and answer["error"]["code"] == Internal.code:
        raise AssertionError(answer["error"]["message"])


def check_references(data: bytes) -> None:
    """References of a batch are resolved or refused."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return
    answers = {"a": {"hits": [{"path": "x"}], "": 1, "~/": {"$ref": "#/items/a/data"}}, "1": []}
    json.dumps(payloads.resolve(value, answers))


def check_cursor(data: bytes) -> None:
    """A cursor that is read is written as the same cursor again."""
    cursor = paging.decode_cursor(data.decode("utf-8", "surrogateescape"))
    assert paging.decode_cursor(paging.encode_cursor(cursor)) == cursor


# --- packs ---


def check_pack_readers(data: bytes) -> None:
    """A pack that somebody saved, cut or edited is read, checked and written anew, or refused."""
    text = saved_pack.decode(data)
    read_json(text)
    for name in plugins.names("renderer"):
        plugins.load("renderer", name).read(text)
    done = verify(session_of(shop()), VerifyRequest(text=text, refresh=True))
    assert sum(done.counts.values()) == len(done.items)
    for item in done.items:
        state = item.state.value
        # `src//money.py` is the same file to the system as `src/money.py`
        is_there = posixpath.normpath(item.path) in SHOP
        assert state != "true" or is_there, "a file that is not there is cited truly"


def check_pack_renderers(data: bytes) -> None:
    """Whatever a question, a path and a text hold: a pack of them reads back as the same citations."""
    query, path, content = ([part.decode("utf-8", "replace") for part in data.split(b"\0", 2)] + [""] * 3)[:3]
    content = content or "x"
    path = "".join(character for character in path if character.isprintable()).strip("/") or "a.py"
    try:
        paths.check_relative(path)
    except SatchelError:
        return
    items = make_item(path, content), make_item(path + ".md", content, 7, symbol=query)
    pack = make_pack(*items, query=query or "x")
    for name in plugins.names("renderer"):
        renderer = plugins.load("renderer", name)
        text = renderer.render(pack)
        text.encode()
        if name == "xml":
            ElementTree.fromstring(text)
        elif name in ("json", "sections"):
            json.loads(text)
        cited = renderer.read(text) if name not in ("json", "sections") else read_json(text).cited
        found = {(one.path, one.start_line, one.end_line) for one in cited.citations}
        assert found == {(item.path, item.start_line, item.end_line) for item in items}, f"{name}: citations"
        for one, item in ((one, item) for one in cited.citations for item in items if item.path == one.path):
            assert item.content_hash.startswith(one.content_hash), f"{name}: hash of a citation"


def check_tokens(data: bytes) -> None:
    """A name survives being written as one word."""
    text = data.decode("utf-8", "replace")
    assert quoting.read_word(quoting.one_word(text)) == text, "another name"


# --- what programs print and keep ---


def check_git_listings(data: bytes) -> None:
    """Names of files in any bytes come out of git's listings as they are."""
    names = [name for name in data.split(b"\0") if name][:20]
    shown = [name.decode("utf-8", "surrogateescape") for name in names]
    listed = b"".join(b"100644 blob %s %7d\t%s\0" % (_SHA.encode(), 5, name) for name in names)
    answers = {"ls-tree": listed, "rev-parse": b"\n", "config": b""}
    with mock.patch.object(git, "run_git", lambda root, words, **_: answers[words[0]]):
        assert [blob.path for blob in git.list_tree(Path(), _SHA).blobs] == shown, "ls-tree"
    raw = b"".join(b":100644 100644 %s %s M\0%s\0" % (_SHA.encode(), _SHA.encode(), name) for name in names)
    with mock.patch.object(git_diff, "run_git", lambda *_, **__: raw):
        found = git_diff.list_entries(Path(), git_diff.compare_commits("a", "b"))
    assert [change.new_path for change in found] == shown, "diff --raw"
    told = b"".join(b"1700000000\0%s\0M\0%s\0" % (name, name) for name in names)
    commits = list(history._parse_commits(told))
    assert all(commit.paths[0] in shown for commit in commits), "log"


def check_git_diff(data: bytes) -> None:
    """No line of a file is taken for a heading of the diff around it."""
    lines = data.split(b"\n")[:50]
    head = b"diff --git a/x b/x\nindex %s..%s 100644\n--- a/x\n+++ b/x\n" % (_SHA.encode(), _SHA.encode())
    body = b"".join(b"@@ -%d +%d @@\n-%s\n+%s\n" % (at, at, line, line) for at, line in enumerate(lines, 1))
    (block,) = git_diff.parse_hunks(head + body)
    assert [hunk.old_line for hunk in block.hunks] == list(range(1, len(lines) + 1)), "hunks"


def check_history(data: bytes) -> None:
    """What git may say of commits is read, however odd."""
    list(history._parse_commits(data))
    list(git_diff.parse_hunks(data))


def check_stored(data: bytes) -> None:
    """A damaged record is refused as damage."""
    for unpack in (
        records.unpack_text,
        records.unpack_extras,
        records.unpack_outline,
        records.unpack_facts,
        records.unpack_edges,
        postings.decode,
    ):
        try:
            unpack(data)
        except SatchelError:
            continue


def check_settings(data: bytes) -> None:
    """A settings file of a project is read or refused."""
    root = scratch() / "settings"
    make_tree(root, {settings.PROJECT_FILE: data})
    settings.load(root)


def check_datasets(data: bytes) -> None:
    """A file of questions, or of a saved evaluation, is read or refused."""
    (path := scratch() / "dataset").write_bytes(data)
    for read in (cases.read_dataset, saved.load):
        try:
            read(path)
        except SatchelError:
            continue


def check_json_settings(data: bytes) -> None:
    """An entry put into a settings file of an agent client is there, and taken out again leaves the file."""
    _check_editor(json_settings, data)


def check_toml_settings(data: bytes) -> None:
    """The same for settings in TOML."""
    _check_editor(toml_settings, data)


def _check_editor(editor: Any, data: bytes) -> None:
    old = editor.read_entry(data, _KEYS)
    edited, trace = editor.add_entry(data, _KEYS, _ENTRY)
    found = editor.read_entry(edited, _KEYS)
    assert {name: found[name] for name in _ENTRY} == _ENTRY, "the entry is not there"
    if old is None:
        assert editor.remove_entry(edited, _KEYS, trace) == data, "not as it was"


def check_counts(name: str, data: bytes) -> None:
    """Tokens are counted as tiktoken counts them."""
    text = data.decode("utf-8", "replace")
    assert tokenizers.get(name).count(text) == original_count(name, text), "count"


# --- what the checks stand on ---


@cache
def scratch() -> Path:
    """A folder that lasts as long as the process."""
    folder = tempfile.TemporaryDirectory(prefix="satchel-fuzz-")
    _KEPT.append(folder)
    return Path(folder.name).resolve()


_KEPT: list[tempfile.TemporaryDirectory[str]] = []


@cache
def shop() -> Engine:
    """A small repository with its index in memory."""
    engine = make_engine(git_repo(scratch() / "shop", SHOP), MemoryStore())
    engine.refresh()
    dump_tables(engine.snapshot())
    return engine


@cache
def dispatcher() -> Dispatcher:
    """What answers callers who are elsewhere: no request makes it write a file that the request names."""
    return Dispatcher([git_repo(scratch() / "served", SHOP)])


def samples(language: str = "") -> list[bytes]:
    """The sample files of a language, or of all."""
    folder = TESTS / "languages" / "samples"
    files = [path for path in sorted(folder.iterdir()) if path.suffix != ".outline"]
    texts = [(path.name, path.read_bytes()) for path in files]
    if language:
        texts = [pair for pair in texts if languages.detect(pair[0], pair[1][:999].decode()) == language]
    return [data for _, data in texts] or [b"a: b\n\n# c\n(d) {\n  e = 'f'\n}\n"]


def _sources(folder: str) -> list[bytes]:
    """Texts in the tests of a part: each is a sample of what that part is given."""
    found: list[bytes] = []
    for path in sorted((TESTS / folder).glob("test_*.py")):
        found += re.findall(rb'"((?:[^"\\\n]|\\.){3,400})"', path.read_bytes())
    return [data.replace(b"\\n", b"\n") for data in found][:600] or [b"x"]


def _packs() -> list[bytes]:
    pack = make_pack(
        make_item("README.md", "# Shop\n\nA small shop.\n"), make_item("src/money.py", "RATE = 2\n")
    )
    rendered = [plugins.load("renderer", name).render(pack) for name in plugins.names("renderer")]
    answered = context_pack(session_of(shop()), ContextPackRequest(query="basket total price"))
    layers = shop().pack_layers(documents_only=False)
    return [text.encode() for text in rendered] + [msgspec.json.encode(answered), msgspec.json.encode(layers)]


def _requests() -> list[bytes]:
    payloads: Mapping[str, dict[str, Any]] = {
        "search": {"query": "basket", "k": 5, "path_prefix": "src", "explain": True},
        "get": {"ids": ["README.md", "src/money.py:1:3"], "mode": "raw", "budget": 100},
        "context_pack": {"query": "add_money", "max_chars": 4000},
        "build_context_pack": {"query": "add_money", "max_chars": 4000, "change": "HEAD"},
        "pack": {"query": "basket", "format": "xml", "budget_tokens": 900, "ref": "HEAD"},
        "map": {"budget_tokens": 200},
        "refs": {"name": "add_money"},
        "symbols": {"query": "Basket", "kind": "class"},
        "status": {"skipped": True},
        "batch": {
            "items": [
                {"id": "a", "action": "search", "payload": {"query": "basket"}},
                {"id": "b", "action": "get", "payload": {"ids": [{"$ref": "#/items/a/data/hits/0/id"}]}},
            ],
            "max_chars": 9000,
        },
        "verify": {"text": "{}"},
    }
    options = {"stale_policy": "auto"}
    config = {"profile": "fast", "ignore": ["*.md"]}
    found = [{"action": name, "payload": payload} for name, payload in payloads.items()]
    return [
        json.dumps(one | extra).encode()
        for one in found
        for extra in ({}, {"options": options, "config": config})
    ]


_COMMITS = b"1700000000\0A message\n\nwith lines\n\0M\0src/a.py\0A\0b.md\0001700000001\0x\0M\0c.py\0"
_JSON_SETTINGS = (
    b'{\n  // mine\n  "mcpServers": {\n    "other": {"command": "x"},\n  },\n  "a": [1, 2,], /* b */\n}\n',
    b'{"mcpServers": {"satchel": {"command": "old", "args": []}}}',
    b"{}",
    b'\xef\xbb\xbf{\r\n\t"x": true\r\n}\r\n',
)
_TOML_SETTINGS = (
    b'# mine\nmodel = "x"\n\n[mcpServers.other]\ncommand = "y"\nargs = [\n  "a",\n]\n\n[[list]]\na.b = 1\n',
    b'[mcpServers.satchel]\ncommand = "old"\n\n[mcpServers.satchel.env]\nA = "b"\n',
    b'mcpServers = { other = { command = "y" } }\n',
)
_DATASETS = (
    b'{"query_id": "1", "query": "a", "gold": [{"path": "a.py", "start_line": 1, "end_line": 2}]}\n',
    b'{"cases": [{"id": 1, "query": "a", "expected_paths": ["a.py"]}]}',
)
_GLOBS = [
    b"src/**/*.py\nsrc/a/b.py",
    b"*.md\ndocs/guide.md",
    b"**?**?x\naaaaaaaaaaaaaaaa",
    b"a?c/*\nabc/d.py",
]
_IGNORES = [b"*.o\n!keep.o\n/build/\nlogs/**\n[a-z]*.txt\n\\#x\n", b"**/x/**/*.[!o]\n/*/\n[[:alpha:]]?\n"]
_CURSOR = paging.encode_cursor(
    paging.make_cursor("root", 3, "question", "answer", paging.PageStart(2, 7))
).encode()


def _stored_samples() -> list[bytes]:
    _, kept = packed("src/money.py", str(SHOP["src/money.py"]))
    return [kept.text, kept.extras, kept.outline, b"\0" * 12]


def _named_samples() -> list[bytes]:
    names = [b"a.py", b"a.md", b"a.min.js", b"x.ipynb", b"package-lock.json", b"a.unknown"]
    return [name + b"\n" + data for name, data in zip(names * 9, samples(), strict=False)]


def _splits() -> list[bytes]:
    return [b"how\0src/money.py\0" + data[:1500] for data in samples()]


def parsers() -> dict[str, Parser]:
    """All parsers by name; those of one family share what stands before the colon."""
    found = {
        f"chunks:{name}": Parser(partial(check_chunks, name), partial(samples, name))
        for name in plugins.names("language")
    }
    return found | {
        "kept": Parser(check_kept, samples),
        "reader": Parser(check_reader, _named_samples),
        "encodings": Parser(check_encodings, samples),
        "redaction": Parser(check_redaction, partial(_sources, "walking")),
        "question": Parser(check_question, partial(_sources, "retrieval")),
        "locators": Parser(check_locators, partial(_sources, "retrieval")),
        "globs": Parser(check_globs, lambda: _GLOBS),
        "ignore": Parser(check_ignore, lambda: _IGNORES),
        "envelope": Parser(check_envelope, _requests),
        "references": Parser(check_references, _requests),
        "cursor": Parser(check_cursor, lambda: [_CURSOR, b"W10"]),
        "pack readers": Parser(check_pack_readers, _packs),
        "pack renderers": Parser(check_pack_renderers, _splits),
        "pack tokens": Parser(check_tokens, partial(_sources, "rendering")),
        "git listings": Parser(check_git_listings, lambda: [b"src/a.py\0b c.md\0\xff\t\n"]),
        "git diff": Parser(check_git_diff, samples),
        "git history": Parser(check_history, lambda: [_COMMITS]),
        "stored": Parser(check_stored, _stored_samples),
        "settings": Parser(
            check_settings, lambda: [b'ignore = ["*.x"]\nmax_file_bytes = 9\n', *_TOML_SETTINGS]
        ),
        "datasets": Parser(check_datasets, lambda: _DATASETS),
        "json settings": Parser(check_json_settings, lambda: _JSON_SETTINGS),
        "toml settings": Parser(check_toml_settings, lambda: _TOML_SETTINGS),
        "counts:o200k": Parser(partial(check_counts, "o200k"), samples),
        "counts:cl100k": Parser(partial(check_counts, "cl100k"), samples),
    }
