"""The three-layer pack: its fields, its truth, and that nothing but the time changes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, age, clean_environment, make_engine, make_tree, memory_engine, run_cli

from satchel.commands.build import write_pack
from satchel.engine import Engine
from satchel.errors import InvalidRequest
from satchel.lines import split_lines

FIELDS = {
    "": "schema_version segment created_at generator_version source_files chunking docs digest index chunks",
    "source_files": "path sha256 mtime chars size",
    "chunking": "method max_chars",
    "docs": "doc file sha256 chunk_count total_chars",
    "digest": "doc summary source_chunk_ids",
    "index": "id doc title_path preview token_est source_path heading_level char_count line_count start_line end_line",
    "chunks": "id doc title_path text source_path heading_level char_count line_count start_line end_line",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return age(make_tree(tmp_path / "shop", SHOP))


def build(root: Path, *flags: str) -> dict[str, Any]:
    done = run_cli("build", "--segment", root, *flags)
    assert done.returncode == 0, done.stderr
    pack: dict[str, Any] = json.loads((root / "_ctx/context_pack.json").read_bytes())
    return pack


def test_the_fields_are_exactly_those_of_the_schema(shop: Path) -> None:
    pack = build(shop, "--scope", "all")
    assert list(pack) == FIELDS[""].split()
    for part in ("source_files", "docs", "digest", "index", "chunks"):
        assert pack[part] and all(list(item) == FIELDS[part].split() for item in pack[part])
    assert list(pack["chunking"]) == FIELDS["chunking"].split()
    assert (pack["schema_version"], pack["segment"]) == (1, "shop")
    assert pack["chunking"] == {"method": "headings+paragraph_fallback+fence_aware", "max_chars": 6000}


def test_documents_are_the_default_scope(shop: Path) -> None:
    assert [doc["doc"] for doc in build(shop)["docs"]] == ["README", "docs/guide"]
    assert len(build(shop, "--scope", "all")["docs"]) == len(SHOP)


def test_hashes_and_counts_are_of_the_files(shop: Path) -> None:
    pack = build(shop, "--scope", "all")
    for item in pack["source_files"]:
        raw = (shop / item["path"]).read_bytes()
        assert item["sha256"] == hashlib.sha256(raw).hexdigest()
        assert (item["size"], item["chars"]) == (len(raw), len(raw.decode()))
    readme = next(doc for doc in pack["docs"] if doc["doc"] == "README")
    text = (shop / "README.md").read_text()
    assert readme["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert (readme["file"], readme["chunk_count"], readme["total_chars"]) == ("README.md", 3, len(text))


def test_every_chunk_is_its_lines_and_has_an_index_entry(shop: Path) -> None:
    pack = build(shop, "--scope", "all")
    assert [entry["id"] for entry in pack["index"]] == [chunk["id"] for chunk in pack["chunks"]]
    for entry, chunk in zip(pack["index"], pack["chunks"], strict=True):
        lines = split_lines((shop / chunk["source_path"]).read_bytes().decode())
        assert chunk["text"] == "".join(lines[chunk["start_line"] - 1 : chunk["end_line"]])
        assert chunk["line_count"] == chunk["end_line"] - chunk["start_line"] + 1
        assert chunk["char_count"] == len(chunk["text"]) and entry["token_est"] == len(chunk["text"]) // 4
        assert "\n" not in entry["preview"] and len(entry["preview"]) <= 181
        assert chunk["id"].startswith(chunk["doc"] + ":")


def test_the_digest_names_existing_chunks_and_is_never_empty(shop: Path) -> None:
    make_tree(
        shop,
        {
            "long.md": "# Long\n\n" + "word " * 2000,
            "plain.md": "no heading at all\n",
            "empty.md": "",
            "blank.md": "\n \n",
        },
    )
    pack = build(shop)
    known = {chunk["id"] for chunk in pack["chunks"]}
    with_chunks = [doc["doc"] for doc in pack["docs"] if doc["chunk_count"]]
    assert (
        [entry["doc"] for entry in pack["digest"]] == with_chunks == ["README", "docs/guide", "long", "plain"]
    )
    for entry in pack["digest"]:
        assert entry["summary"] and "No content" not in entry["summary"]
        assert entry["source_chunk_ids"] and set(entry["source_chunk_ids"]) <= known


def test_rebuilding_changes_nothing_but_created_at(shop: Path) -> None:
    first = build(shop, "--scope", "all")
    second = build(shop, "--scope", "all", "--force")
    assert first.pop("created_at") != second.pop("created_at")
    assert json.dumps(first) == json.dumps(second)


def test_the_history_of_an_index_does_not_show_in_its_pack(shop: Path) -> None:
    def chunks(engine: Engine) -> object:
        pack = engine.pack_layers(documents_only=False)
        return pack.source_files, pack.docs, pack.digest, pack.index, pack.chunks

    with make_engine(shop) as engine:
        engine.refresh()
        (shop / "README.md").rename(shop / "AAA.md")
        engine.refresh()
        make_tree(shop, {"src/money.py": "x = 1\n"})
        engine.refresh()
        assert chunks(engine) == chunks(memory_engine(shop))


def test_an_empty_folder_gives_an_empty_pack(tmp_path: Path) -> None:
    pack = build(tmp_path)
    assert pack["docs"] == pack["digest"] == pack["index"] == pack["chunks"] == pack["source_files"] == []


def test_a_dry_run_writes_nothing(shop: Path) -> None:
    done = run_cli("build", "--segment", shop, "--dry-run", "--json")
    assert json.loads(done.stdout)["written"] is False
    assert not (shop / "_ctx/context_pack.json").exists()


def test_the_output_can_be_somewhere_else(shop: Path, tmp_path: Path) -> None:
    output = tmp_path / "deep" / "pack.json"
    run_cli("build", "--segment", shop, "--output", output)
    assert json.loads(output.read_bytes())["schema_version"] == 1
    assert not (shop / "_ctx/context_pack.json").exists()


def test_a_pack_that_can_not_be_written_leaves_the_old_one_and_no_part(shop: Path) -> None:
    engine = memory_engine(shop)
    target = shop / "_ctx" / "pack.json"
    write_pack(engine.pack_layers(), target)
    before = target.read_bytes()
    (shop / "_ctx" / "blocked").mkdir()
    with pytest.raises(InvalidRequest, match="cannot be written"):
        write_pack(engine.pack_layers(), shop / "_ctx" / "blocked")
    assert target.read_bytes() == before
    assert sorted(path.name for path in (shop / "_ctx").iterdir()) == ["blocked", "pack.json"]


_WRITE_FOREVER = """
import sys
from pathlib import Path
from satchel.commands.build import write_pack
from satchel.engine import Engine
from satchel.storage.memory import MemoryStore
engine = Engine.open(sys.argv[1], store=MemoryStore(), workers=1)
engine.refresh()
pack = engine.pack_layers(documents_only=False)
write_pack(pack, Path(sys.argv[2]))
print("go", flush=True)
while True:
    write_pack(pack, Path(sys.argv[2]))
"""


def test_a_kill_at_any_moment_leaves_a_whole_pack(shop: Path, tmp_path: Path) -> None:
    target = tmp_path / "out" / "pack.json"
    for number in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", _WRITE_FOREVER, str(shop), str(target)],
            stdout=subprocess.PIPE,
            env=clean_environment(),
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.003 * number)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert json.loads(target.read_bytes())["schema_version"] == 1
