"""The invariants, over generated trees: whatever is in a folder, these hold of its index."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import connect

import pytest
from builders import age, clean_environment, dump, make_engine, make_tree, memory_engine
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from satchel import ids, tokenizers
from satchel.commands.build import Scope, write_pack
from satchel.commands.get import GetRequest
from satchel.commands.get import run as get
from satchel.commands.map import MapRequest
from satchel.commands.map import run as show_map
from satchel.commands.prompt import PromptRequest
from satchel.commands.prompt import run as prompt
from satchel.engine import Engine
from satchel.errors import InvalidBudget
from satchel.lines import split_lines
from satchel.packing.excerpts import Mode

Tree = dict[str, str]

SECRETS = (
    "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bD1fG3hJ5",
    "AKIA" + "J7QX2MZP4LRT6WNB",
    "sk-ant-api03-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe",
    "glpat-" + "x7Yz9Wv3Ut5Sr1Qp8On6",
)
_WORDS = ("basket", "price", "total", "RouterGroup", "add_money", "naïve", "購物", "x1", "été", "customer")
_PIECES = (
    "def {0}_{1}(self):\n    return {1}\n",
    "class {0}:\n    '''{1} of {0}'''\n\n    def {1}(self):\n        pass\n",
    "# {0} {1}\n\nText about {1}.\n",
    "## {0}\n\n```python\n# not a heading\n{1} = 1\n```\n",
    "{0} = {1}\n\n\n",
    "func {0}() int {{\n\treturn {1}\n}}\n",
    "// {0}\nfunction {1}(a) {{ return {0}(a); }}\n",
    "- {0}\n  - {1}\n\n",
    "{0}\x0b{1}\x0c{0}\u2028{1}\x85{0}\n",
    "   \t\n\n",
    "{0}: {1}\n",
    '{{"{0}": [1, "{1}"]}}\n',
    "((((((((({0}\n",
    "\ufeff{0} 💡 {1}\u202e\n",
)
_NAMES = (
    "a.py",
    "b.go",
    "c.js",
    "README.md",
    "docs/guide.md",
    "d.rs",
    "notes.txt",
    "e.yaml",
    "f.json",
    "src/é.py",
    "src/g",
)

words = st.sampled_from(_WORDS)
pieces = st.builds(lambda form, one, two: form.format(one, two), st.sampled_from(_PIECES), words, words)
line_ends = st.sampled_from(["\n", "\n", "\r\n", "\r"])
texts = st.builds(
    lambda parts, end, cut: "".join(parts).replace("\n", end).removesuffix(end if cut else "\0"),
    st.lists(pieces, max_size=6),
    line_ends,
    st.booleans(),
)
trees = st.dictionaries(st.sampled_from(_NAMES), texts, min_size=1, max_size=5)
secret_lines = st.builds(lambda secret, word: f"{word} = '{secret}'\n", st.sampled_from(SECRETS), words)
trees_with_secrets = st.dictionaries(
    st.sampled_from(_NAMES),
    st.lists(st.one_of(pieces, secret_lines), min_size=1, max_size=5).map("".join),
    min_size=1,
    max_size=4,
)
few = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
fewer = settings(few, max_examples=8)


@contextmanager
def folder(tree: Tree) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield age(make_tree(Path(name).resolve() / "tree", tree))


def all_ids(engine: Engine) -> dict[str, list[str]]:
    snapshot = engine.snapshot()
    return {
        record.path: [
            ids.canonical_id(ids.doc_of(record.path), chunk.digest) for chunk in snapshot.chunks(record.path)
        ]
        for record in snapshot.files()
    }


@few
@given(trees)
def test_every_citation_is_byte_for_byte_what_is_on_disk(tree: Tree) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        snapshot = engine.snapshot()
        for record in snapshot.files():
            raw = (root / record.path).read_bytes()
            lines = split_lines(raw.decode(record.encoding))
            assert record.file_hash == hashlib.sha256(raw).hexdigest() and record.line_count == len(lines)
            for chunk in snapshot.chunks(record.path):
                span = "".join(lines[chunk.start_line - 1 : chunk.end_line])
                assert engine.text_of(chunk) == span != ""


@few
@given(trees)
def test_every_line_that_is_not_blank_is_in_exactly_one_chunk(tree: Tree) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        snapshot = engine.snapshot()
        assert {record.path for record in snapshot.files()} | {
            item.skipped.path for item in snapshot.skipped()
        } >= set(tree)
        for record in snapshot.files():
            lines = split_lines(snapshot.text(record.path))
            covered = [0] * len(lines)
            for chunk in snapshot.chunks(record.path):
                for line in range(chunk.start_line - 1, chunk.end_line):
                    covered[line] += 1
            assert all(count == 1 for count, line in zip(covered, lines, strict=True) if line.strip())
            assert max(covered, default=0) <= 1


@few
@given(trees)
def test_ids_are_unique_in_all_spellings(tree: Tree) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        everything = [name for names in all_ids(engine).values() for name in names]
        assert len(set(everything)) == len(everything)
        for name in everything:
            (found,) = engine.find([name])
            assert found.fate == "current" and found.chunk is not None
            locator = f"{found.chunk.path}:{found.chunk.start_line}:{found.chunk.end_line}"
            (by_long,) = engine.find([ids.long_id(found.chunk.digest)])
            (by_lines,) = engine.find([locator])
            assert by_long.chunk == by_lines.chunk == found.chunk


@few
@given(trees, st.sampled_from(_NAMES), texts)
def test_a_change_in_one_file_changes_no_id_of_another(tree: Tree, name: str, text: str) -> None:
    with folder(tree) as root:
        before = all_ids(memory_engine(root))
        make_tree(root, {name: text})
        after = all_ids(memory_engine(root))
    before.pop(name, None)
    assert {path: after.get(path) for path in before} == before


@fewer
@given(trees)
def test_both_stores_give_the_same_answers(tree: Tree) -> None:
    with folder(tree) as root, make_engine(root) as sqlite:
        sqlite.refresh()
        queries = ["basket price", "RouterGroup", "naïve 購物", "add_money"]
        assert dump(sqlite, queries) == dump(memory_engine(root), queries)
        assert sqlite.pack_layers(documents_only=False).chunks == (
            memory_engine(root).pack_layers(documents_only=False).chunks
        )


@fewer
@given(trees, st.lists(st.tuples(st.sampled_from(_NAMES), st.none() | texts), min_size=1, max_size=5))
def test_an_index_after_any_edits_equals_a_fresh_one(tree: Tree, edits: list[tuple[str, str | None]]) -> None:
    with folder(tree) as root, make_engine(root) as engine:
        engine.refresh()
        for name, text in edits:
            if text is None:
                (root / name).unlink(missing_ok=True)
            else:
                make_tree(root, {name: text})
            engine.refresh()
        queries = ["basket price", "RouterGroup"]
        assert dump(engine, queries) == dump(memory_engine(root), queries)


@few
@given(trees_with_secrets)
def test_a_redacted_file_keeps_its_lines_and_loses_its_secrets(tree: Tree) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        snapshot = engine.snapshot()
        for record in snapshot.files():
            shown = split_lines(snapshot.text(record.path))
            real = split_lines((root / record.path).read_bytes().decode(record.encoding))
            assert len(shown) == len(real) == record.line_count
            different = {
                number for number, pair in enumerate(zip(shown, real, strict=True), 1) if pair[0] != pair[1]
            }
            assert different == set(record.redactions)
            assert not any(secret in line for secret in SECRETS for line in shown)


@fewer
@given(trees_with_secrets)
def test_no_secret_is_anywhere_in_the_index_folder(tree: Tree) -> None:
    with folder(tree) as root, make_engine(root) as engine:
        engine.refresh()
        write_pack(engine.pack_layers(documents_only=False), root / "_ctx" / "context_pack.json")
        engine.close()
        stored = b"".join(path.read_bytes() for path in (root / "_ctx").iterdir())
        with closing(connect(root / "_ctx" / "context.db")) as connection:
            for text, extras in connection.execute("SELECT text, extras FROM contents"):
                stored += zlib.decompress(text) + zlib.decompress(extras)
    lowered = stored.lower()
    assert not [secret for secret in SECRETS if secret.encode().lower() in lowered]


@fewer
@example({"a.txt": "abcdef\n", "b.txt": "abcdef\n", "c.txt": "abcdef\n", "d.txt": "abcdef\n"}, 4, Mode.RAW)
@given(trees, st.integers(1, 300), st.sampled_from(Mode))
def test_get_never_exceeds_its_budget_and_accounts_for_every_id(tree: Tree, budget: int, mode: Mode) -> None:
    count = tokenizers.get().count
    with folder(tree) as root, memory_engine(root) as engine:
        asked = [name for names in all_ids(engine).values() for name in names][:150]
        if not asked:
            return
        answer = get(engine, GetRequest(ids=(*asked, "no/such:0123456789"), mode=mode, budget=budget))
        assert count("".join(chunk.text for chunk in answer.chunks)) <= budget
        assert answer.used_tokens <= budget
        assert sorted([*(chunk.id for chunk in answer.chunks), *answer.left_out]) == sorted(asked)
        assert [item.asked for item in answer.missing] == ["no/such:0123456789"]


@fewer
@given(trees, st.integers(1, 400))
def test_map_and_prompt_never_exceed_their_budget(tree: Tree, budget: int) -> None:
    count = tokenizers.get().count
    with folder(tree) as root, memory_engine(root) as engine:
        assert count(show_map(engine, MapRequest(budget_tokens=budget)).text) <= budget
        try:
            shown = prompt(engine, PromptRequest(budget_tokens=budget, scope=Scope.ALL))
        except InvalidBudget as error:
            smallest = error.details["min_tokens"]
            assert smallest > budget
            shown = prompt(engine, PromptRequest(budget_tokens=smallest, scope=Scope.ALL))
            budget = smallest
        assert count(shown.text) <= budget
        assert shown.shown + shown.summarised == sum(map(len, all_ids(engine).values()))


@fewer
@given(trees, trees)
def test_one_segment_never_shows_another(first: Tree, second: Tree) -> None:
    marked = {f"only_first/{path}": f"{text}\nfirstmarker\n" for path, text in first.items()}
    other = {f"only_second/{path}": f"{text}\nsecondmarker\n" for path, text in second.items()}
    with tempfile.TemporaryDirectory() as name:
        one = make_engine(make_tree(Path(name) / "one", marked))
        two = make_engine(make_tree(Path(name) / "two", other))
        with one, two:
            one.refresh()
            two.refresh()
            assert all(hit.path.startswith("only_first/") for hit in one.search("firstmarker basket", 100)[0])
            assert one.search("secondmarker")[0] == []
            foreign = [
                found.fate for found in one.find([name for names in all_ids(two).values() for name in names])
            ]
            assert set(foreign) <= {"unknown"}


@few
@given(trees, st.lists(words, min_size=1, max_size=3).map(" ".join))
def test_hits_are_cited_explained_and_in_order(tree: Tree, query: str) -> None:
    with folder(tree) as root, memory_engine(root) as engine:
        hits, _ = engine.search(query, k=100, explain=True)
        for hit in hits:
            lines = split_lines(engine.snapshot().text(hit.path))
            assert hit.text == "".join(lines[hit.start_line - 1 : hit.end_line])
            assert hit.snippet and hit.snippet in hit.text
            rounding = 0.00005 * (len(hit.reasons) + 1)
            assert sum(reason.score for reason in hit.reasons) == pytest.approx(hit.score, abs=rounding)
        files = len({hit.path for hit in hits})
        assert len({hit.path for hit in hits[:files]}) == files and len({hit.id for hit in hits}) == len(hits)
        for part in (hits[:files], hits[files:]):
            keys = [(-hit.score, hit.path) for hit in part]
            assert keys == sorted(keys)


_ANSWER = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from builders import dump, make_engine
from satchel.storage.memory import MemoryStore
import msgspec
for root in sys.argv[2:]:
    engine = make_engine(Path(root), MemoryStore(), workers=2)
    engine.refresh()
    pack = engine.pack_layers(documents_only=False)
    print(repr(dump(engine)), msgspec.json.encode((pack.digest, pack.index, pack.chunks)))
    print([engine.search(words)[1] for words in ("baskett", "RouterGrop", "custom pricing")])
    print(engine.map(200, __import__("satchel.tokenizers").tokenizers.get()))
"""


def _answers(roots: list[Path], seed: str) -> bytes:
    return subprocess.run(
        [sys.executable, "-c", _ANSWER, str(Path(__file__).parent), *map(str, roots)],
        env=clean_environment({"PYTHONHASHSEED": seed}),
        check=True,
        capture_output=True,
    ).stdout


def test_two_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    samples = Path(__file__).parent / "languages" / "samples"
    files = {path.name: path.read_bytes() for path in samples.iterdir() if path.suffix != ".outline"}
    text = "".join(piece.format("basket", "price") for piece in _PIECES)
    pieces_of = {f"{word}.md": text.replace("basket", word) for word in _WORDS}
    roots = [age(make_tree(tmp_path / "samples", files)), age(make_tree(tmp_path / "pieces", pieces_of))]
    first, second = _answers(roots, "1"), _answers(roots, "4242")
    assert first == second and len(first) > 10_000


def test_the_order_in_which_files_were_written_does_not_matter(tmp_path: Path) -> None:
    tree = {f"n{number}.md": f"# {_WORDS[number]}\n\nbasket\n" for number in range(len(_WORDS))}
    one = age(make_tree(tmp_path / "one" / "tree", tree), 60)
    two = age(make_tree(tmp_path / "two" / "tree", dict(reversed(tree.items()))), 60)
    answers = [
        [(hit.id, hit.score) for hit in memory_engine(root).search("basket price", 50)[0]]
        for root in (one, two)
    ]
    assert answers[0] == answers[1] and len(answers[0]) == len(tree)
