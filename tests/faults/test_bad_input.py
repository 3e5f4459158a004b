"""Bad input: a clear typed error or a reported skip, the last good index intact, nothing outside read."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builders import (
    SHOP,
    age,
    clean_environment,
    dump,
    git_repo,
    make_engine,
    make_tree,
    memory_engine,
    open_folder,
    reader,
    run_cli,
    run_cli_as_nobody,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from satchel.chunking import parse_source
from satchel.engine import Engine
from satchel.indexing.analysis import Stages
from satchel.indexing.plan import signature
from satchel.indexing.refresh import RefreshRequest, refresh
from satchel.lines import split_lines
from satchel.settings import WalkOptions
from satchel.storage.memory import MemoryStore
from satchel.storage.sqlite import SqliteStore
from satchel.walking.work_tree import WorkTree

DEPTH = 50_000


def left_out(engine: Engine) -> dict[str, str]:
    return {item.skipped.path: item.skipped.reason.value for item in engine.snapshot().skipped()}


@pytest.mark.parametrize("command", ["index", "map", "prompt", "stats", "status", "build", "sync"])
def test_an_empty_folder_is_no_error(tmp_path: Path, command: str) -> None:
    done = run_cli(command, "--segment", tmp_path, "--json")
    assert done.returncode == 0 and json.loads(done.stdout), done.stderr


def test_a_search_in_an_empty_folder_finds_nothing(tmp_path: Path) -> None:
    assert json.loads(run_cli("search", "x", "--segment", tmp_path, "--json").stdout) == {
        "query": "x",
        "hits": [],
    }


def test_files_without_text_are_no_error(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        {"empty.py": "", "blank.md": "\n\n \n", "empty.json": "", "bom.txt": "\ufeff", "e.ipynb": ""},
    )
    done = run_cli("build", "--scope", "all", "--segment", root, "--json")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("segment", ["nowhere", "file.txt", "link"])
def test_a_segment_that_is_no_folder_is_a_typed_error(tmp_path: Path, segment: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "link").symlink_to("link")
    assert run_cli("search", "x", "--segment", tmp_path / segment).returncode == 3


def test_what_may_not_be_read_is_reported_and_the_rest_indexed(tmp_path: Path) -> None:
    make_tree(tmp_path, SHOP)
    with open_folder() as root:
        make_tree(root, {**SHOP, "closed/a.md": "# Basket\n"})
        (root / "_ctx").mkdir()
        (root / "_ctx").chmod(0o777)
        (root / "README.md").chmod(0)
        (root / "closed").chmod(0)
        done = run_cli_as_nobody("search", "basket setup", "--json", segment=root, warm=tmp_path)
        status = run_cli_as_nobody("status", "--skipped", "--json", segment=root, warm=tmp_path)
        (root / "closed").chmod(0o755)
    paths = {hit["path"] for hit in json.loads(done.stdout)["hits"]}
    assert "src/basket.py" in paths and "README.md" not in paths
    reasons = {item["path"]: item["reason"] for item in json.loads(status.stdout)["skipped"]}
    assert reasons == {"README.md": "unreadable", "closed": "unreadable", "_ctx/context.db": "generated"}


def test_a_root_that_may_not_be_read_is_an_error_and_its_index_stays(tmp_path: Path) -> None:
    make_tree(tmp_path, SHOP)
    with open_folder() as root, open_folder() as home:
        home.chmod(0o777)
        shop = make_tree(root / "shop", SHOP)
        kept = {"SATCHEL_HOME": str(home)}
        first = run_cli_as_nobody("search", "basket", segment=shop, warm=tmp_path, environment=kept)
        shop.chmod(0)
        second = run_cli_as_nobody("search", "basket", segment=shop, warm=tmp_path, environment=kept)
        shop.chmod(0o755)
        third = run_cli("search", "basket", "--no-refresh", "--segment", shop, "--json", environment=kept)
    assert first.returncode == 0 and second.returncode not in (0, 70), second.stderr
    assert json.loads(third.stdout)["hits"]


def test_a_file_that_vanishes_before_it_is_read_is_reported(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    walk = WorkTree(root.resolve()).entries()
    (root / "README.md").unlink()
    store = MemoryStore()
    refresh(
        store,
        RefreshRequest(walk, Stages(reader(root), parse_source), {"signature": signature(WalkOptions())}),
    )
    skipped = {item.skipped.path: item.skipped.reason.value for item in store.snapshot().skipped()}
    assert skipped == {"README.md": "unreadable"} and len(store.snapshot().files()) == len(SHOP) - 1


def test_a_folder_that_vanishes_while_it_is_indexed_breaks_nothing(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    engine = memory_engine(root)
    walk = WorkTree(root.resolve()).entries()
    shutil.rmtree(root / "src")
    make_tree(root, {"README.md": "# New\n"})
    refresh(
        engine.store,
        RefreshRequest(walk, Stages(reader(root), parse_source), {"signature": signature(WalkOptions())}),
    )
    engine.refresh()
    assert dump(engine) == dump(memory_engine(root))


def test_a_file_of_200_megabytes_is_left_out_at_once(tmp_path: Path) -> None:
    make_tree(tmp_path, SHOP)
    for name in ("line.py", "line.md", "line.json"):
        with open(tmp_path / name, "wb") as stream:
            stream.write(b"x" * 100_000)
            stream.truncate(200 * 1024 * 1024)
    started = time.monotonic()
    engine = memory_engine(tmp_path)
    assert time.monotonic() - started < 5
    assert left_out(engine) == dict.fromkeys(("line.py", "line.md", "line.json"), "too_large")


@pytest.mark.parametrize("name", ["line.py", "line.js", "line.md", "line.txt", "line.json", "line.unknown"])
def test_two_megabytes_on_one_line_are_answered_quickly(tmp_path: Path, name: str) -> None:
    make_tree(tmp_path, {**SHOP, name: "basket(" * 290_000})
    started = time.monotonic()
    engine = memory_engine(tmp_path)
    assert time.monotonic() - started < 10
    assert engine.snapshot().file(name) is not None or left_out(engine)[name] == "minified"


_DEEP = {
    "deep.py": "(\n",
    "deep2.py": "[",
    "deep.js": "{\n",
    "deep2.js": "f(\n",
    "deep.ts": "[\n",
    "deep.json": "[\n",
    "deep2.json": '{"a":\n',
    "deep.c": "{\n",
    "deep2.c": "(\n",
    "deep.cpp": "namespace a {\n",
    "deep.go": "(\n",
    "deep.rs": "{\n",
    "deep.java": "class A {\n",
    "deep.html": "<div>\n",
    "deep.css": "a {\n",
    "deep.yaml": "[\n",
    "deep.toml": "a = [\n",
    "deep.rb": "module A\n",
    "deep.hs": "(\n",
    "deep.sh": "$(\n",
    "deep.sql": "(\n",
    "deep.lua": "{\n",
    "deep.swift": "{\n",
    "deep.kt": "{\n",
    "deep.php": "<?php {\n",
    "deep.scala": "{\n",
    "deep.ex": "[\n",
    "deep.cs": "{\n",
    "deep.md": "> ",
    "deep2.md": "- ",
    "deep3.md": "* a\n\n ",
}


@pytest.mark.parametrize("name", _DEEP)
def test_fifty_thousand_brackets_are_indexed_or_left_out(tmp_path: Path, name: str) -> None:
    root = make_tree(tmp_path, {"README.md": "# Basket\n", name: _DEEP[name] * DEPTH})
    started = time.monotonic()
    done = run_cli("search", "basket", "--segment", root, "--json", environment={"SATCHEL_WORKERS": "1"})
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    assert json.loads(done.stdout)["hits"][0]["path"] == "README.md"
    assert time.monotonic() - started < 20
    with make_engine(root) as engine:
        assert engine.snapshot().file(name) is not None or name in left_out(engine)


def test_a_long_run_of_comments_takes_linear_time(tmp_path: Path) -> None:
    text = "def f():\n" + "    # a comment line here and there\n" * 4_000 + "    return 1\n"
    make_tree(tmp_path, {"comments.py": text})
    started = time.monotonic()
    memory_engine(tmp_path)
    assert time.monotonic() - started < 10  # a tenth of it on an idle machine


def test_bytes_of_every_kind_are_indexed_or_left_out(tmp_path: Path) -> None:
    odd: dict[str, str | bytes] = {
        "invalid.py": b"x = 1\n\xff\xfe\xfa basket\n\xc3\x28\n",
        "latin.md": "# Größe\n\nbasket\n".encode("latin-1"),
        "utf16.md": "# Größe\n\nbasket\n".encode("utf-16"),
        "utf16be.md": b"\xfe\xff" + "# Größe\n\nbasket\n".encode("utf-16-be"),
        "utf16odd.md": "# A\n".encode("utf-16") + b"\x00",
        "surrogate.md": b"\xff\xfe" + "# A\n".encode("utf-16-le") + b"\x00\xd8\n\x00",
        "utf32.md": "# A\n".encode("utf-32"),
        "nul.py": b"x = 1\n\0\n",
        "late_nul.py": b"x = 1\n" * 2000 + b"\0 = 2\n",
        "only_nul.py": b"\0",
        "lone_cr.md": b"# A\r\rbasket\r# B\r",
        "mixed.py": b"a = 1\r\nb = 2\rc = 3\nd\x0b\x0c\x85\n",
        "overlong.py": b"\xc0\xaf\xe0\x80\xaf\n",
    }
    engine = memory_engine(make_tree(tmp_path, odd))
    indexed = {record.path for record in engine.snapshot().files()}
    assert indexed | set(left_out(engine)) == set(odd) and "nul.py" in left_out(engine)
    assert {"invalid.py", "latin.md", "utf16.md", "utf16be.md", "lone_cr.md", "mixed.py"} <= indexed
    for record in engine.snapshot().files():
        lines = split_lines(engine.snapshot().text(record.path))
        assert "".join(lines).encode(record.encoding) == odd[record.path]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200), st.sampled_from(["a.py", "a.md", "a.ipynb", "a.rst", "a.yaml", "a", "a.html"])
)
def test_any_bytes_under_any_name_are_indexed_exactly_or_left_out(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str
) -> None:
    root = make_tree(tmp_path_factory.mktemp("bytes"), {name: data})
    with make_engine(root) as engine:
        engine.refresh()
        for record in engine.snapshot().files():
            text = engine.snapshot().text(record.path)
            assert record.redactions or text.encode(record.encoding) == data
        assert {record.path for record in engine.snapshot().files()} | set(left_out(engine)) == {name}


def test_odd_names_are_indexed_or_reported(tmp_path: Path) -> None:
    names = [
        b"new\nline.md",
        b"emoji\xf0\x9f\x92\xa1.md",
        b"bytes\xff\xfe.md",
        b"-dash.md",
        b"--json",
        b"quote'\".md",
    ]
    names += [
        b"back\\slash.md",
        b"col:on.md",
        b"sp ace .md",
        b"tab\t.md",
        b"\x1b[2J.md",
        b"n" * 250 + b".md",
        b"a*b?.md",
    ]
    names += ["é.md".encode(), "e\u0301.md".encode(), b"...", b"C:.md", b"%41.md", b"$HOME.md", b"..md"]
    for name in names:
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as stream:
            stream.write(b"# Basket\n")
    with make_engine(tmp_path) as engine:
        engine.refresh()
        paths = {record.path for record in engine.snapshot().files()}
        skipped = left_out(engine)
        assert len(paths) + len(skipped) == len(names)
        assert {
            "emoji💡.md",
            "-dash.md",
            "quote'\".md",
            "col:on.md",
            "sp ace .md",
            "é.md",
            "e\u0301.md",
        } <= paths
        assert {path for path, reason in skipped.items() if reason == "unsupported_name"} >= {
            "new\\nline.md",
            "bytes\\xff\\xfe.md",
        }
        found = engine.find([hit.id for hit in engine.search("basket", 100)[0]])
        assert {item.fate.value for item in found} == {"current"} and len(found) == len(paths)
        assert dump(engine, ["basket"]) == dump(memory_engine(tmp_path), ["basket"])


def test_odd_names_are_answered_by_the_command_line(tmp_path: Path) -> None:
    for name in (b"new\nline.md", b"bytes\xff.md", b"ok.md"):
        with open(os.fsencode(tmp_path) + b"/" + name, "wb") as stream:
            stream.write(b"# Basket\n")
    done = run_cli("search", "basket", "--segment", tmp_path, "--json")
    assert [hit["path"] for hit in json.loads(done.stdout)["hits"]] == ["ok.md"]
    listed = run_cli("status", "--skipped", "--segment", tmp_path).stdout.decode()
    assert "new\\nline.md" in listed and "bytes\\xff.md" in listed


def test_symlinks_lead_nowhere(tmp_path: Path) -> None:
    make_tree(tmp_path, {"outside/secret.md": "# Unicorn\n", "root/a.md": "# Basket\n"})
    root = tmp_path / "root"
    (root / "self").symlink_to("self")
    (root / "up").symlink_to("..")
    (root / "here").symlink_to(".")
    (root / "ping").symlink_to("pong")
    (root / "pong").symlink_to("ping")
    (root / "leak.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "leak").symlink_to(tmp_path / "outside")
    (root / "gone.md").symlink_to("nothing.md")
    (root / "copy.md").symlink_to("a.md")
    engine = memory_engine(root)
    assert [record.path for record in engine.snapshot().files()] == ["a.md"]
    assert set(left_out(engine).values()) == {"symlink"} and engine.search("unicorn")[0] == []


def test_a_file_swapped_for_a_symlink_is_not_followed(tmp_path: Path) -> None:
    make_tree(tmp_path, {"outside.md": "# Unicorn\n", "root/a.md": "# Basket\n"})
    root = tmp_path / "root"
    walk = WorkTree(root.resolve()).entries()
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(tmp_path / "outside.md")
    store = MemoryStore()
    refresh(
        store,
        RefreshRequest(walk, Stages(reader(root), parse_source), {"signature": signature(WalkOptions())}),
    )
    assert store.snapshot().files() == []


@pytest.mark.parametrize(
    "asked",
    [
        "../outside.md:1:1",
        "shop/../../outside.md:1:1",
        "/etc/passwd:1:1",
        "..\\outside.md:1:1",
        "../outside:0123456789",
    ],
)
def test_ids_never_lead_outside(tmp_path: Path, asked: str) -> None:
    make_tree(tmp_path, {"outside.md": "# Unicorn\n"})
    root = make_tree(tmp_path / "shop", SHOP)
    found = json.loads(run_cli("get", asked, "--segment", root, "--json").stdout)["error"]
    assert found["code"] == "chunk_not_found" and found["details"]["missing"][0]["fate"] == "unknown"


@pytest.mark.parametrize("name", ["../outside.md", "/etc/passwd"])
def test_symbols_never_lead_outside(tmp_path: Path, name: str) -> None:
    make_tree(tmp_path, {"outside.md": "# Unicorn\n"})
    root = make_tree(tmp_path / "shop", SHOP)
    assert run_cli("symbols", name, "--segment", root).returncode == 3


def test_two_indexers_at_once_are_both_right(tmp_path: Path) -> None:
    files = {f"n{number}.py": f"def basket_{number}():\n    return {number}\n" * 20 for number in range(150)}
    root = make_tree(tmp_path, files)
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "satchel", "index", "--segment", str(root)],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    ended = [(process.communicate(timeout=100), process.returncode)[1] for process in processes]
    assert ended == [0, 0, 0]
    with make_engine(root) as engine:
        assert dump(engine, ["basket"]) == dump(memory_engine(root), ["basket"])


def test_a_search_while_another_process_holds_the_lock_answers_and_says_so(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    with make_engine(root) as engine:
        engine.refresh()
        path = Path(engine.store.location)
    make_tree(root, {"new.md": "# New\n"})
    busy = Engine.open(root, store=SqliteStore(path, lock_wait_seconds=0.1), workers=1)
    with SqliteStore(path).write() as writer:
        with pytest.raises(Exception, match="another process"):
            busy.refresh()
        assert busy.search("basket")[0]
        writer.set_meta({"signature": "other"})


def test_a_full_disk_leaves_the_last_good_index(tmp_path: Path) -> None:
    root = age(make_tree(tmp_path, SHOP))
    assert run_cli("index", "--segment", root).returncode == 0
    with make_engine(root) as engine:
        before = dump(engine)
    text = "".join(f"def basket_{number}():\n    return {number}\n" for number in range(4_000))
    make_tree(root, {"large.py": text})
    done = subprocess.run(
        [sys.executable, "-m", "satchel", "index", "--segment", str(root)],
        env=clean_environment({"SATCHEL_WORKERS": "1"}),
        capture_output=True,
        check=False,
        timeout=20,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000)),
    )
    assert done.returncode not in (0, 70) and b"Traceback" not in done.stderr, done.stderr
    with make_engine(root) as engine:
        assert dump(engine) == before


@pytest.mark.parametrize("content", ["garbage", "gitdir: /nowhere/at/all\n", ""])
def test_a_broken_repository_is_walked_without_git_and_it_is_said(tmp_path: Path, content: str) -> None:
    root = make_tree(tmp_path, {**SHOP, ".git": content})
    done = run_cli("search", "basket", "--segment", root)
    assert done.returncode == 0 and b"src/basket.py" in done.stdout and b"without git" in done.stderr


def test_a_repository_without_a_commit_is_indexed(tmp_path: Path) -> None:
    root = git_repo(tmp_path, {})
    shutil.rmtree(root / ".git")
    make_tree(root, SHOP)
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    assert json.loads(run_cli("search", "basket", "--segment", root, "--json").stdout)["hits"]


def test_index_folder_that_is_a_file_is_a_typed_error(tmp_path: Path) -> None:
    done = run_cli("index", "--segment", make_tree(tmp_path, {**SHOP, "_ctx": "a file\n"}))
    assert done.returncode not in (0, 70) and b"Traceback" not in done.stderr, done.stderr


def test_an_index_folder_that_is_a_link_out_of_the_tree_is_not_written_through(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "shop", SHOP)
    (tmp_path / "elsewhere").mkdir()
    (root / "_ctx").symlink_to(tmp_path / "elsewhere")
    done = run_cli("index", "--segment", root)
    assert done.returncode not in (0, 70) and list((tmp_path / "elsewhere").iterdir()) == []
