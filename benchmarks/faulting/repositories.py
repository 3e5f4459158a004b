"""Collections of bad input as repositories, requests and files: is every answer true, valid and typed?

    python benchmarks/faulting/repositories.py CLONE…

A CLONE is a git directory or a work tree of nst/JSONTestSuite, minimaxir/big-list-of-naughty-strings,
commonmark/commonmark-spec or any other repository. Its files are checked out into a temporary folder and
asked by every command. Strings in a `blns.json` are then used as questions, names, contents, filters and
addresses; files in a `test_parsing/` as requests, settings, packs, notebooks and datasets. The figures are
kept in results/hostile_repositories.txt; the lines of a clone are replaced when it is tried again.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

HERE = Path(__file__).resolve().parent
TESTS = HERE.parents[1] / "tests"
sys.path[:0] = [str(HERE.parent), str(TESTS), str(TESTS / "serving")]

import surfaces  # noqa: E402
from builders import SHOP, clean_environment, git_repo, make_engine, make_tree  # noqa: E402

import satchel  # noqa: E402
from faulting.truth import Citation, citations  # noqa: E402
from satchel.engine import Engine  # noqa: E402
from satchel.serving.cli import main as satchel_main  # noqa: E402
from satchel.serving.error_table import ERRORS, EXIT_DOES_NOT_HOLD, EXIT_OK  # noqa: E402

RESULTS = HERE.parent / "results" / "hostile_repositories.txt"
FORMATS = ("context", "markdown", "xml", "terminal", "json", "sections")
STRINGS, JSON_FILES = "blns.json", "test_parsing"
_ENCODINGS = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "shift_jis", "gb18030")
_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_MASK = re.compile("«redacted:[^»]*»")
_QUESTIONS = 25  # of each repository
_MOST_IDS = 50  # of one call of `get`
_NAME_BYTES = 255  # the longest name that file systems take
_DEFECT = "internal"
# Strings that are used in requests at one time: 515 strings make 14,000 requests, most of whose time is spent
# waiting for a server and for git.
_ASKERS = 6


class Said(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: bytes
    errors: str


def check_out(clone: Path, folder: Path) -> Path:
    """Write the files of a clone's HEAD into a folder, through an index of our own, and commit them there."""
    folder.mkdir(parents=True)
    index = folder.with_name(f"{folder.name}.index")
    environment = os.environ | {"GIT_INDEX_FILE": str(index), "GIT_CONFIG_GLOBAL": os.devnull}
    found = subprocess.run(
        ["git", "-C", str(clone), "rev-parse", "--absolute-git-dir"],
        check=True,
        capture_output=True,
        text=True,
    )
    places = [f"--git-dir={found.stdout.strip()}", f"--work-tree={folder}"]
    for words in (["read-tree", "HEAD"], ["checkout-index", "--all"]):  # a partial clone may lack some files
        subprocess.run(
            ["git", *places, *words], cwd=folder, env=environment, check=False, capture_output=True
        )
    if not any(folder.iterdir()):
        raise SystemExit(f"{clone} has no files at HEAD")
    return git_repo(folder, {})


def said(*words: str | Path, cwd: Path | None = None) -> Said:
    """Run the command line in this process, which is many times as quick as one of its own."""
    out, errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with (
        mock.patch.dict(os.environ, clean_environment(), clear=True),
        mock.patch.object(sys, "stdout", out),
        redirect_stderr(errors),
    ):
        try:
            code = satchel_main([str(word) for word in words])
        except SystemExit as ended:  # how the reader of flags refuses them
            code = ended.code if isinstance(ended.code, int) else 1
    out.flush()
    return Said(code, out.buffer.getvalue(), errors.getvalue())  # type: ignore[attr-defined]


def wrong_with(found: Said, *, as_json: bool = True) -> Iterator[str]:
    """Yield what no command may do: a code that is not in the table or not that of its error, a traceback,
    an internal error, output that is no UTF-8 or no JSON."""
    known = {one.exit for one in ERRORS.values()} | {EXIT_OK, EXIT_DOES_NOT_HOLD}
    if found.code not in known or found.code == ERRORS[_DEFECT].exit:
        yield f"exit {found.code}: {found.errors.strip()[-300:]}"
    if "Traceback" in found.errors:
        yield found.errors.strip()[-300:]
    try:
        text = found.out.decode()
        answer = json.loads(text) if as_json and text.strip() else {}
    except ValueError as error:
        yield f"no JSON in UTF-8: {error}: {found.out[:200]!r}"
        return
    told = answer.get("error") if isinstance(answer, dict) else None
    if isinstance(told, dict) and (told["code"] == _DEFECT or ERRORS[told["code"]].exit != found.code):
        yield f"exit {found.code}: {told['code']}: {told['message'][:200]}"


def wrong_in(envelope: Mapping[str, Any]) -> Iterator[str]:
    """Yield what no envelope may hold."""
    json.dumps(envelope).encode()
    if envelope["status"] != "ok" and envelope["error"]["code"] == _DEFECT:
        yield f"{_DEFECT}: {envelope['error']['message'][:300]}"


# --- citations ---


def bears_out(item: Citation, root: Path) -> bool:
    """Tell whether the file holds what is cited, in one of the encodings that it may be in; a value that was
    masked may have been anything."""
    data = (root / item.path).read_bytes()
    return any(_holds(item, text) for text in _texts(data))


def _texts(data: bytes) -> Iterator[str]:
    for encoding in _ENCODINGS:
        try:
            text = data.decode(encoding)
        except UnicodeError:
            continue
        yield text
        yield text.removeprefix("\ufeff")


def _holds(item: Citation, text: str) -> bool:
    if "«redacted:" not in item.text:
        return item._replace(content_hash="").holds_in(text)
    shown = "".join(_LINE.findall(text)[item.first - 1 : item.last])
    pattern = "[^\r\n]*?".join(map(re.escape, _MASK.split(item.text)))
    return re.fullmatch(pattern, shown) is not None if item.is_exact else True


def untrue(action: str, data: Mapping[str, Any], root: Path) -> Iterator[str]:
    """Yield a sentence for each citation of an answer that the files do not bear out."""
    for item in citations(action, data):
        if action == "search":  # of a long hit the snippet is a part
            item = item._replace(is_exact=False)
        if not bears_out(item, root):
            yield f"{action}: {item.path}:{item.first}-{item.last} is not {item.text[:80]!r}"


def uncovered(engine: Engine, root: Path) -> Iterator[str]:
    """Yield a sentence for each file with a line of text that is not in exactly one chunk, or with a chunk
    that is not its lines."""
    snapshot = engine.snapshot()
    for record in snapshot.files():
        text = (root / record.path).read_bytes().decode(record.encoding)
        lines = _LINE.findall(text)
        shown = _LINE.findall(snapshot.text(record.path))
        if [line for number, line in enumerate(lines, 1) if number not in record.redactions] != [
            line for number, line in enumerate(shown, 1) if number not in record.redactions
        ]:
            yield f"{record.path}: its text in the index is another"
        counts = Counter(
            line
            for chunk in snapshot.chunks(record.path)
            for line in range(chunk.start_line, chunk.end_line + 1)
        )
        bad = [number for number, line in enumerate(lines, 1) if line.strip() and counts[number] != 1]
        if bad or any(count > 1 or not 1 <= line <= len(lines) for line, count in counts.items()):
            yield f"{record.path}: lines {bad[:5]} are not in exactly one chunk"


# --- a repository ---


def questions_of(root: Path) -> list[str]:
    """Questions that the files themselves suggest: names, and lines out of their middle."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    found = []
    for path in files[:: max(1, len(files) // _QUESTIONS)]:
        lines = path.read_bytes().decode("utf-8", "replace").replace("\0", "").split("\n")
        found += [path.stem, lines[len(lines) // 2][:300]]
    return [text for text in found if text.strip()]


def ask_repository(root: Path) -> Iterator[str]:
    """Ask a folder by every command; yield what was wrong."""
    with make_engine(root) as engine:
        engine.refresh()
        yield from uncovered(engine, root)
    for words in (["index"], ["status", "--skipped"], ["stats"], ["symbols"], ["map"], ["prompt"]):
        for text in wrong_with(said(*words, "--segment", root, "--json")):
            yield f"{words}: {text}"
    for text in questions_of(root):
        yield from ask(root, text)
    for words in (["build", "--scope", "all"], ["validate"]):
        found = said(*words, "--segment", root, "--json")
        yield from (f"{words}: {text}" for text in wrong_with(found))
        if found.code != EXIT_OK:
            yield f"{words}: exit {found.code}: {found.out[-300:].decode(errors='replace')}"
    yield from round_trip(root, questions_of(root)[:5])


def ask(root: Path, text: str) -> Iterator[str]:
    """Ask one question in every way that cites; whatever is found is fetched by its id."""
    payloads: tuple[tuple[str, dict[str, Any]], ...] = (
        ("search", {"query": text, "k": 20}),
        ("context_pack", {"query": text, "max_chars": 8000}),
        ("build_context_pack", {"query": text, "max_chars": 8000}),
        ("map", {"budget_tokens": 800}),
    )
    for action, payload in payloads:
        envelope = satchel.answer({"action": action, "payload": {"project": str(root), **payload}})
        yield from (f"{action} {text[:60]!r}: {wrong}" for wrong in wrong_in(envelope))
        if envelope["status"] != "ok":
            continue
        yield from untrue(action, envelope["data"], root)
        if action == "search" and (hits := envelope["data"]["hits"]):
            yield from fetch(root, [hit["id"] for hit in hits])


def fetch(root: Path, named: Sequence[str]) -> Iterator[str]:
    """Fetch what was cited by the ids that were given for it."""
    envelope = satchel.answer({"action": "get", "payload": {"project": str(root), "ids": list(named)}})
    yield from wrong_in(envelope)
    if envelope["status"] != "ok":
        yield f"get {named[:3]}: {envelope['error']['message'][:200]}"
        return
    if envelope["data"].get("missing"):
        yield f"get: {envelope['data']['missing'][:3]}"
    yield from untrue("get", envelope["data"], root)


def round_trip(root: Path, asked: Sequence[str]) -> Iterator[str]:
    """Write packs in all formats; each must be well-formed, and true when it is verified."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(asked):
            for form in FORMATS:
                found = said("pack", "--format", form, "--segment", root, "--", text)
                yield from (
                    f"pack {form} {text[:60]!r}: {wrong}" for wrong in wrong_with(found, as_json=False)
                )
                if found.code != EXIT_OK:
                    continue
                yield from (f"pack {form} {text[:60]!r}: {wrong}" for wrong in malformed(form, found.out))
                (file := Path(folder, f"{number}.{form}")).write_bytes(found.out)
                checked = said("verify", file, "--segment", root, "--json")
                if checked.code != EXIT_OK:
                    yield f"verify {form} {text[:60]!r}: {checked.out[:400].decode()}"


def malformed(form: str, out: bytes) -> Iterator[str]:
    """Yield what is wrong with the form of a pack."""
    try:
        out.decode()
        if form == "xml":
            ElementTree.fromstring(out)
        elif form in ("json", "sections"):
            json.loads(out)
    except (ValueError, ElementTree.ParseError) as error:
        yield f"malformed: {error}"


# --- strings ---


def strings_in_requests(strings: Sequence[str], folder: Path) -> Iterator[str]:
    """Use each string as a question, an address, a filter and a setting."""
    root = git_repo(folder / "asked", SHOP)
    with surfaces.surface("http", root, "--no-watch") as server, ThreadPoolExecutor(_ASKERS) as askers:
        for found in askers.map(lambda text: list(ask_with(text, root, server)), strings):
            yield from found


def strings_in_files(strings: Sequence[str], folder: Path) -> Iterator[str]:
    """Use each string as the name of a file and as its content."""
    yield from as_names(strings, folder / "names")
    yield from as_contents(strings, folder / "contents")


def requests_with(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a request for each field that takes free text."""
    for action in ("search", "context_pack", "build_context_pack"):
        yield action, {"query": text}
    for form in FORMATS:
        yield "pack", {"query": text, "format": form}
    yield "get", {"ids": [text]}
    yield "get", {"ids": [f"{text}:1:2", f"src/money.py,{text}"]}
    yield "refs", {"name": text}
    yield "symbols", {"name": text}
    yield "pack", {"query": "basket", "ref": text}
    yield "pack", {"diff": text}
    yield "verify", {"text": text}
    for field in ("path_prefix", "file_pattern", "file_type", "chunk_type", "language"):
        yield "search", {"query": "basket", field: text}
    for field in ("tags", "include_paths", "exclude_paths"):
        yield "search", {"query": "basket", field: [text]}
    yield "batch", {"items": [{"id": text, "action": "search", "payload": {"query": {"$ref": text}}}]}
    yield text, {}


def ask_with(text: str, root: Path, server: Any) -> Iterator[str]:
    """Send every request with this string, in Python and over HTTP by turns."""
    for number, (action, payload) in enumerate(requests_with(text)):
        if number % 2:
            envelope = server.ask(action, payload)
        else:
            envelope = satchel.answer({"action": action, "payload": {"project": str(root), **payload}})
        yield from (f"{action} {payload}: {wrong}"[:400] for wrong in wrong_in(envelope))
        if envelope["status"] == "ok" and action in ("search", "get", "context_pack", "build_context_pack"):
            yield from untrue(action, envelope["data"], root)
    config = {"action": "status", "payload": {"project": str(root)}, "config": {"ignore": [text]}}
    yield from (f"config {text!r}: {wrong}" for wrong in wrong_in(satchel.answer(config)))


def as_names(strings: Sequence[str], root: Path) -> Iterator[str]:
    """Name a file after each string, where the system takes it: all are indexed or left out."""
    root.mkdir(parents=True)
    written = 0
    for number, text in enumerate(strings):
        name = text.replace("/", "_").replace("\0", "_").encode("utf-8", "surrogateescape")
        if not name.strip(b".") or len(name) > _NAME_BYTES - 5:
            continue
        for ending in (b"", b".md"):
            try:
                with open(os.fsencode(root) + b"/" + name + ending, "xb") as stream:
                    stream.write(f"# Basket {number}\n\nThe basket of {number}.\n".encode())
            except OSError:
                continue
            written += 1
    with make_engine(root) as engine:
        engine.refresh()
        snapshot = engine.snapshot()
        if len(snapshot.files()) + len(snapshot.skipped()) != written:
            yield f"{written} names, {len(snapshot.files())} indexed, {len(snapshot.skipped())} left out"
        named = [
            name
            for record in snapshot.files()
            for chunk in snapshot.chunks(record.path)
            for name in (f"{record.path}:{chunk.start_line}:{chunk.end_line}", record.path)
        ]
    for start in range(0, len(named), _MOST_IDS):
        yield from fetch(root, named[start : start + _MOST_IDS])
    yield from ask_repository(root)


def as_contents(strings: Sequence[str], root: Path) -> Iterator[str]:
    """Put each string into a document, a program and a text of its own."""
    files: dict[str, str | bytes] = {}
    for number, text in enumerate(strings):
        files[f"docs/{number}.md"] = f"# {text}\n\nBasket {number}: {text}\n\n- {text}\n"
        files[f"src/{number}.py"] = f"def basket_{number}():\n    # {text}\n    return {text!r}\n"
        files[f"text/{number}.txt"] = text
    make_tree(root, files)
    yield from ask_repository(root)
    for text in strings[:: max(1, len(strings) // 60)]:
        yield from ask(root, text)


def as_words(strings: Sequence[str], root: Path) -> Iterator[str]:
    """Write each string where the command line expects a value."""
    for text in strings:
        if "\0" in text:
            continue
        words = ["search", "--segment", str(root), "--json", "--", text]
        yield from (f"search -- {text!r}: {wrong}" for wrong in wrong_with(said(*words)))
        found = said("get", "--segment", root, "--json", "--", text)
        yield from (f"get -- {text!r}: {wrong}" for wrong in wrong_with(found))
        found = said("command", "--json", text)
        yield from (f"command --json {text!r}: {wrong}" for wrong in wrong_with(found))


# --- JSON ---


def try_json(files: Mapping[str, bytes], folder: Path) -> Iterator[str]:
    """Use each file as a request, as settings, as a pack, as a notebook, as a dataset and as a tokenizer."""
    root = git_repo(folder / "asked", SHOP)
    said("index", "--segment", root)
    with surfaces.surface("http", root, "--no-watch") as server:
        for name, data in files.items():
            for body in bodies(data):
                try:
                    status, envelope = server.post(body)
                except OSError as error:
                    yield f"POST {name}, {body[:80]!r}: {error}"
                    continue
                if status >= 500:
                    yield f"POST {name}: {status} {str(envelope)[:200]}"
                yield from (f"POST {name}: {wrong}" for wrong in wrong_in(envelope))
    yield from over_mcp(files, root)
    for name, data in files.items():
        yield from (f"{name}: {wrong}" for wrong in as_files(data, root, folder))
    notebooks = {f"{name}.{ending}": data for name, data in files.items() for ending in ("ipynb", "json")}
    yield from ask_repository(make_tree(folder / "notebooks", notebooks))


def bodies(data: bytes) -> Iterator[bytes]:
    """Yield requests that are made of some JSON, or hold it."""
    yield data
    yield b'{"action": "search", "payload": ' + data + b"}"
    yield b'{"action": "search", "payload": {"query": "basket", "k": ' + data + b"}}"
    yield b'{"action": "get", "payload": {"ids": ' + data + b"}}"
    yield (
        b'{"action": "batch", "payload": {"items": [{"id": "a", "action": "get", "payload": ' + data + b"}]}}"
    )
    yield b'{"action": "search", "payload": {"query": "basket"}, "options": ' + data + b"}"


def over_mcp(files: Mapping[str, bytes], root: Path) -> Iterator[str]:
    """Send each file as a message of MCP, and as the arguments of a tool."""
    import http.client

    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    call = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": %s}}'
    )
    with surfaces.serving("mcp", root, "--no-watch") as server:
        for name, data in files.items():
            for body in (data, call % data):
                connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
                connection.request("POST", "/mcp", body, headers)
                answer = connection.getresponse()
                told = answer.read()
                connection.close()
                if answer.status >= 500 or b'"internal"' in told:
                    yield f"POST /mcp {name}: {answer.status} {told[:200]!r}"


def as_files(data: bytes, root: Path, folder: Path) -> Iterator[str]:
    """Give one file to every command that reads one."""
    (file := folder / "given.json").write_bytes(data)
    calls: list[list[str | Path]] = [
        ["command", "--file", file],
        ["verify", file, "--segment", root, "--json"],
        ["eval", file, "--segment", root, "--json"],
        ["eval", folder / "good.jsonl", "--compare", file, "--segment", root, "--json"],
        ["map", "--tokenizer", file, "--segment", root, "--json"],
        ["validate", "--output", file, "--segment", root, "--json"],
    ]
    (folder / "good.jsonl").write_text(
        '{"query_id": 1, "query": "basket", "gold": [{"path": "src/basket.py"}]}'
    )
    if b"\0" not in data and len(data) < 100_000:
        calls.append(["command", "--json", os.fsdecode(data)])
    for words in calls:
        yield from (f"{words[0]}: {wrong}" for wrong in wrong_with(said(*words)))
    (root / "satchel.toml").write_bytes(data)
    try:
        yield from (f"settings: {wrong}" for wrong in wrong_with(said("status", "--segment", root, "--json")))
    finally:
        (root / "satchel.toml").unlink()


# --- all of it ---


def run(
    clones: Sequence[Path], only: Sequence[str], tell: Callable[[str, str], None]
) -> tuple[dict[str, int], list[str]]:
    """Try all clones, or some of their trials; the files of each, and a sentence for whatever was wrong.
    Each trial is told when it has ended, with what came of it."""
    sizes: dict[str, int] = {}
    wrong: list[str] = []
    for number, clone in enumerate(clones):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            root = check_out(clone, folder / f"clone{number}")
            files = [path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts]
            sizes[str(clone)] = len(files)
            trials: dict[str, Iterator[str]] = {"repository": ask_repository(root)}
            if (strings := root / STRINGS).is_file():
                held_strings = json.loads(strings.read_text())
                trials["strings in requests"] = strings_in_requests(held_strings, folder)
                trials["strings in files"] = strings_in_files(held_strings, folder)
                trials["strings as words"] = as_words(held_strings, git_repo(folder / "words", SHOP))
            if (parsing := root / JSON_FILES).is_dir():
                held = {path.stem: path.read_bytes() for path in sorted(parsing.glob("*.json"))}
                trials["JSON"] = try_json(held, folder)
            for trial, found in trials.items():
                if only and trial not in only:
                    continue
                sentences = list(found)
                wrong += [f"{trial}: {sentence}" for sentence in sentences]
                name_of_clone = clone.parent.name if clone.name in (".git", "repo") else clone.name
                tell(f"{name_of_clone} as {trial}", f"{len(files)} files; wrong: {len(sentences)}")
    return sizes, wrong


def keep(trial: str, figures: str) -> None:
    """Print what came of a trial, and write it into the results in place of what was known of it."""
    print(f"{trial}: {figures}", flush=True)
    lines = RESULTS.read_text().splitlines() if RESULTS.is_file() else []
    kept = [line for line in lines if not line.startswith(f"{trial}: ")]
    RESULTS.write_text("\n".join(sorted([*kept, f"{trial}: {figures}"])) + "\n")


def main() -> int:
    """Try the clones and print what was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path, metavar="CLONE")
    parser.add_argument("--only", action="append", default=[], metavar="TRIAL", help="a name in the results")
    options = parser.parse_args()
    _, wrong = run([clone.resolve() for clone in options.clones], options.only, keep)
    print(*wrong[:60], sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
