"""`verify`: packs of every format, checked and refreshed against real trees; bad files are typed errors."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from builders import (
    SHOP,
    cite,
    clean_environment,
    git_repo,
    make_item,
    make_pack,
    make_tree,
    memory_engine,
    run_cli,
    session_of,
)

from satchel import plugins, tokenizers
from satchel.commands import pack
from satchel.commands.verify import VerifyRequest, VerifyResponse, run
from satchel.engine import Engine
from satchel.errors import FileNotFound, InvalidBudget, InvalidRequest, RefNotFound, Unsupported
from satchel.packing.pack import WORK_TREE, Budget, Item, Pack, Role
from satchel.packing.sections import Section
from satchel.verifying import saved_pack
from satchel.verifying.saved_pack import SHORT_HASH
from satchel.verifying.verification import State

TEXT_FORMATS = ("context", "markdown", "terminal", "xml")
FORMATS = (*TEXT_FORMATS, "items", "sections", "envelope")
GONE = State.GONE


def as_items(pack: Pack) -> dict[str, Any]:
    items = [
        {
            "id": item.locator,
            "role": item.role.value,
            "file": item.path,
            "start_line": item.start_line,
            "end_line": item.end_line,
            "symbol": item.symbol,
            "type": item.kind,
            "score": item.score,
            "imports": [],
            "content": item.content,
        }
        for item in pack.items
    ]
    budget = {"max_chars": 20000, "used_chars": 0, "truncated": False, "dropped_items": 0}
    return {
        "version": 1,
        "query": pack.query,
        "items": items,
        "budget": budget,
        "meta": {"kept": [1.5, None]},
    }


def as_sections(pack: Pack) -> dict[str, Any]:
    sections = {section.value: [_snippet(item) for item in pack.of_section(section)] for section in Section}
    return {
        "query": pack.query,
        "ref": pack.ref,
        "budget_tokens": 4000,
        "token_budget_used": 300,
        "sections": sections,
        "metadata": {"tokenizer": "chars4"},
    }


def _snippet(item: Item) -> dict[str, Any]:
    return {
        "snippet_id": item.chunk_id,
        "ref": item.ref,
        "path": item.path,
        "line_start": item.start_line,
        "line_end": item.end_line,
        "content_hash": item.content_hash,
        "file_hash": item.file_hash,
        "selection_reason": ["words"],
        "symbol": item.symbol,
        "content": item.content,
    }


def written(name: str, pack: Pack) -> str:
    if name == "items":
        return json.dumps(as_items(pack), indent=2)
    if name == "sections":
        return json.dumps(as_sections(pack), ensure_ascii=False)
    if name == "envelope":
        return (
            json.dumps({"status": "ok", "hints": [], "data": as_items(pack), "meta": {"duration_ms": 3}})
            + "\n"
        )
    text: str = plugins.load("renderer", name).render(pack)
    return text


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "shop", SHOP)


def shop_pack(root: Path) -> Pack:
    return make_pack(
        cite(root, "src/basket.py", 6, 13, kind="class", symbol="Basket", language="python"),
        cite(root, "src/money.py", 4, 6, symbol="add_money", language="python"),
        cite(root, "src/money.py", 1, 1, kind="const", symbol="RATE", language="python"),
        cite(
            root,
            "src/till.go",
            6,
            8,
            symbol="OpenTill",
            language="go",
            role=Role.RELATED,
            relationship=("calls",),
            distance=1,
        ),
        cite(
            root,
            "docs/guide.md",
            5,
            7,
            kind="section",
            symbol="Core rules",
            language="markdown",
            section=Section.DOCS,
        ),
    )


def change(root: Path) -> None:
    """One item stays, one moves inside its file, one to another, one changes, one goes."""
    make_tree(
        root,
        {
            "src/basket.py": "# new\n" + str(SHOP["src/basket.py"]),
            "src/money.py": str(SHOP["src/money.py"]).replace("    return", "    # done\n    return"),
            "lib/guide.md": str(SHOP["docs/guide.md"]),
        },
    )
    (root / "docs/guide.md").unlink()
    (root / "src/till.go").unlink()


def check(root: Path, text: str = "", **others: Any) -> VerifyResponse:
    with memory_engine(root) as engine:
        return run(session_of(engine), VerifyRequest(text=text, **others))


def states(response: VerifyResponse) -> list[str]:
    return [item.state.value for item in response.items]


@pytest.mark.parametrize("name", FORMATS)
def test_a_pack_of_the_tree_is_true(shop: Path, name: str) -> None:
    response = check(shop, written(name, shop_pack(shop)))
    assert response.ok and response.counts == {"true": 5, "moved": 0, "changed": 0, "gone": 0}
    assert response.query == "how are sessions stored"


@pytest.mark.parametrize("name", FORMATS)
def test_each_citation_says_what_became_of_it(shop: Path, name: str) -> None:
    text = written(name, shop_pack(shop))
    change(shop)
    response = check(shop, text)
    assert not response.ok and states(response) == ["moved", "changed", "true", "gone", "moved"]
    moved = response.items[4]
    assert (moved.new_path, moved.new_start_line, moved.new_end_line) == ("lib/guide.md", 5, 7)


@pytest.mark.parametrize("name", FORMATS)
def test_a_refreshed_pack_is_all_true_and_keeps_its_format(shop: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / "saved"
    file.write_text(written(name, shop_pack(shop)))
    change(shop)
    response = check(shop, pack=str(file), refresh=True)
    assert response.written == str(file) and len(response.left_out) == 1 and "till.go" in response.left_out[0]
    again = check(shop, file.read_text())
    assert again.ok and again.format == response.format and len(again.items) == 4
    assert "# done" in file.read_text() and "OpenTill" not in file.read_text()


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_a_refreshed_text_is_what_the_renderer_writes(shop: Path, name: str) -> None:
    text = written(name, shop_pack(shop))
    once = check(shop, text, refresh=True).refreshed
    assert check(shop, once, refresh=True).refreshed == once
    assert [line for line in once.split("\n") if "tokens" not in line] == [
        line for line in text.split("\n") if "tokens" not in line
    ]


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_a_true_pack_that_was_full_stays_as_it_was(shop: Path, name: str) -> None:
    """Of every size, because the numbers and the bar of a headline change how many tokens it has."""
    make_tree(shop, {"many.py": "".join(f"def basket_{n}(x):\n    return x + {n}\n\n\n" for n in range(40))})
    with memory_engine(shop) as engine:
        for tokens in range(220, 900, 17):
            request = pack.PackCommandRequest(
                query="how is the basket added", format=name, budget_tokens=tokens
            )
            text = pack.run(session_of(engine), request).document
            again = run(session_of(engine), VerifyRequest(text=text, refresh=True))
            assert (again.left_out, again.refreshed) == ([], text)


@pytest.mark.parametrize("name", TEXT_FORMATS)
def test_a_true_pack_of_limited_characters_stays_as_it_was(shop: Path, name: str) -> None:
    with memory_engine(shop) as engine:
        request = pack.PackCommandRequest(query="how is the basket added", format=name, max_chars=2500)
        text = pack.run(session_of(engine), request).document
        assert run(session_of(engine), VerifyRequest(text=text, refresh=True)).refreshed == text


def test_a_budget_that_no_pack_can_have_is_refused(shop: Path) -> None:
    text = written("context", shop_pack(shop))
    first, headline, rest = text.split("\n", 2)
    larger = f"{first}\n{headline}, 10 of 9000000 characters\n{rest}"
    assert check(shop, larger).ok
    with pytest.raises(InvalidBudget):
        check(shop, larger, refresh=True)


def test_the_other_fields_of_a_pack_in_json_stay(shop: Path) -> None:
    before = as_items(shop_pack(shop))
    change(shop)
    after = json.loads(check(shop, json.dumps({"status": "ok", "data": before}), refresh=True).refreshed)
    data = after.pop("data")
    assert after == {"status": "ok"} and data["meta"] == before["meta"] and data["version"] == 1
    assert data["items"][0]["id"] == "src/basket.py:7:14" and data["items"][0]["type"] == "class"
    assert data["budget"]["used_chars"] == len(msgspec.json.encode(data).decode())


def test_a_refresh_of_what_is_true_leaves_the_file_alone(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "pack.md"
    file.write_text(written("markdown", shop_pack(shop)))
    os.utime(file, (1, 1))
    response = check(shop, pack=str(file), refresh=True)
    assert response.ok and not response.written and file.stat().st_mtime == 1


def test_a_refreshed_pack_goes_to_the_output_and_the_pack_stays(shop: Path, tmp_path: Path) -> None:
    file, output = tmp_path / "old.xml", tmp_path / "new.xml"
    file.write_text(written("xml", shop_pack(shop)))
    before = file.read_bytes()
    change(shop)
    check(shop, pack=str(file), refresh=True, output=str(output))
    assert file.read_bytes() == before and check(shop, output.read_text()).ok


@pytest.mark.parametrize("name", ["context", "xml", "items", "sections"])
def test_a_budget_holds_after_a_refresh(shop: Path, name: str) -> None:
    """The changed item has grown over the budget: it goes, and that is said."""
    pack = shop_pack(shop)
    size = len(written(name, pack))
    budget = Budget(tokenizer="chars4", max_tokens=size // 4 + 20, used_tokens=size // 4)
    text = written(name, msgspec.structs.replace(pack, budget=budget))
    text = text.replace('"max_chars": 20000', f'"max_chars": {size + 80}').replace(
        '"budget_tokens": 4000', '"budget_tokens": 320'
    )
    grown = str(SHOP["src/money.py"]).replace("    return", "    # and more\n" * 60 + "    return")
    make_tree(shop, {"src/money.py": grown})
    response = check(shop, text, refresh=True)
    assert [reason for reason in response.left_out if "src/money.py" in reason and "does not fit" in reason]
    again = check(shop, response.refreshed)
    assert again.ok and len(again.items) == 4
    if name in TEXT_FORMATS:
        assert len(response.refreshed) // 4 <= budget.max_tokens


@pytest.mark.parametrize("name", FORMATS)
def test_no_text_leaves_a_refreshed_pack_unsaid(tmp_path: Path, name: str) -> None:
    parts = [f"def part_{number}(x):\n    return x + {number}\n" for number in range(3)]
    root = make_tree(tmp_path, {"a.py": "\n\n".join(parts)})
    text = written(name, make_pack(cite(root, "a.py", 1, 10, symbol="part_1")))
    make_tree(root, {"a.py": "\n\n".join(parts).replace("x + 1", "x + 10")})
    whole = check(root, text, refresh=True)
    assert "part_0" in whole.refreshed and "part_2" in whole.refreshed and whole.left_out == []
    between = "".join(f"value_{number} = {number}\n" for number in range(90))
    make_tree(root, {"a.py": "\n\n".join([*parts[:2], between, parts[2]])})
    halves = check(root, text, refresh=True)
    assert "part_2" not in halves.refreshed and any("stand apart" in told for told in halves.left_out)


def grown_pack(root: Path, **budget: Any) -> dict[str, Any]:
    """A pack of one function, refreshed after the function has become far longer than the budget."""
    make_tree(
        root, {"a.py": "def alpha(x):\n    return x\n", "b.py": "def alphabet(x):\n    return alpha(x)\n"}
    )
    with memory_engine(root) as engine:
        text = pack.run(session_of(engine), pack.PackCommandRequest(query="alpha", **budget)).document
    make_tree(
        root, {"a.py": "def alpha(x):\n" + "    x = x + factor('some words')\n" * 80 + "    return x\n"}
    )
    refreshed: dict[str, Any] = json.loads(check(root, text, refresh=True).refreshed)
    return refreshed


def test_a_refreshed_flat_pack_holds_its_tokens_and_states_them(tmp_path: Path) -> None:
    data = grown_pack(tmp_path, format="json", budget_tokens=900)
    taken = tokenizers.get("o200k").count(msgspec.json.encode(data).decode())
    assert data["budget"]["used_tokens"] == taken <= 900
    assert [item["file"] for item in data["items"]] == ["b.py"]


@pytest.mark.parametrize("budget", [{"budget_tokens": 900}, {"max_chars": 3000}])
def test_a_refreshed_pack_of_sections_holds_either_budget_and_states_it(
    tmp_path: Path, budget: dict[str, int]
) -> None:
    data = grown_pack(tmp_path, format="sections", **budget)
    text = msgspec.json.encode(data).decode()
    assert data["token_budget_used"] == (
        tokenizers.get("o200k").count(text) if "budget_tokens" in budget else 0
    )
    assert data["metadata"].get("used_chars", len(text)) == len(text) <= 3000


def test_the_counts_of_a_refreshed_pack_of_sections_add_up(tmp_path: Path) -> None:
    data = grown_pack(tmp_path, format="sections", budget_tokens=900)
    told, coverage = data["metadata"], data["coverage_summary"]
    held = {name: len(entries) for name, entries in data["sections"].items()}
    assert {name: one["selected"] for name, one in coverage.items()} == held
    assert told["selected"] == sum(held.values()) and told["dropped"]["budget"] == 1
    assert told["candidates"] == told["selected"] + told["duplicates"] + sum(told["dropped"].values())


def test_a_refreshed_pack_of_sections_does_not_count_what_is_gone(tmp_path: Path) -> None:
    make_tree(
        tmp_path, {"a.py": "def alpha(x):\n    return x\n", "b.py": "def alphabet(x):\n    return alpha(x)\n"}
    )
    with memory_engine(tmp_path) as engine:
        text = pack.run(
            session_of(engine), pack.PackCommandRequest(query="alpha", format="sections")
        ).document
    (tmp_path / "a.py").unlink()
    data = json.loads(check(tmp_path, text, refresh=True).refreshed)
    assert data["metadata"]["selected"] == data["metadata"]["candidates"] == 1


def test_a_pack_of_sections_that_lost_items_is_refused(shop: Path) -> None:
    with memory_engine(shop) as engine:
        text = pack.run(
            session_of(engine), pack.PackCommandRequest(query="basket", format="sections")
        ).document
    data = json.loads(text)
    data["sections"]["definitions"].pop()
    with pytest.raises(InvalidRequest, match="items and has"):
        check(shop, json.dumps(data))


def test_a_three_layer_pack_is_verified_and_built_again(shop: Path) -> None:
    engine = memory_engine(shop)
    text = msgspec.json.encode(engine.pack_layers(documents_only=False)).decode()
    assert check(shop, text).ok
    change(shop)
    response = check(shop, text, refresh=True)
    assert not response.ok and response.format == "layers"
    assert check(shop, response.refreshed).ok and '"lib/guide.md"' in response.refreshed


def test_a_pack_in_the_tree_is_no_source(shop: Path) -> None:
    (shop / "pack.md").write_text(written("markdown", shop_pack(shop)))
    (shop / "docs/guide.md").unlink()
    response = check(shop, pack=str(shop / "pack.md"))
    assert states(response)[-1] == "gone"


def test_a_commit_is_checked_at_that_commit_unless_a_ref_is_given(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=root, text=True).strip()
    items = [msgspec.structs.replace(item, ref=commit) for item in shop_pack(root).items]
    text = written("context", make_pack(*items, ref=commit))
    change(root)
    assert check(root, text).ok
    assert states(check(root, text, ref=WORK_TREE)) == ["moved", "changed", "true", "gone", "moved"]
    assert check(root, text, ref="main").ok


def test_a_pack_is_refreshed_to_a_ref(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    text = written("sections", shop_pack(root))
    change(root)
    git_repo(root, {})
    response = check(root, text, ref="HEAD", refresh=True)
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=root, text=True).strip()
    data = json.loads(response.refreshed)
    assert data["ref"] == commit and data["sections"]["docs"][0]["ref"] == commit
    engine = Engine.open(root)
    basket = data["sections"]["definitions"][0]
    assert basket["file_hash"] == engine.read("src/basket.py").file_hash  # type: ignore[union-attr]
    assert basket["selection_reason"] == ["words"] and basket["snippet_id"] == "src/basket.py:7:14"
    assert check(root, response.refreshed).ok


def test_a_citation_of_an_unknown_commit_is_gone(tmp_path: Path) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    item = cite(root, "src/money.py", 4, 6, ref="0" * 40)
    response = check(root, written("context", make_pack(item, cite(root, "src/money.py", 1, 1))))
    assert states(response) == ["gone", "true"] and "000000000000" in response.items[0].detail


@pytest.mark.parametrize("ref", ["nowhere", "--help", "0" * 40])
def test_an_unknown_ref_is_a_typed_error(tmp_path: Path, ref: str) -> None:
    root = git_repo(tmp_path / "shop", SHOP)
    with pytest.raises(RefNotFound):
        check(root, written("context", shop_pack(root)), ref=ref)


PATHS = (
    "../../etc/passwd",
    "/etc/passwd",
    "src/../../outside.py",
    "C:\\x.py",
    "a\0b",
    "",
    "x" * 5000,
    "\ud800.py",
    "src",
)


@pytest.mark.parametrize("name", FORMATS[:-1])
@pytest.mark.parametrize("path", PATHS)
def test_no_path_outside_the_root_is_read(shop: Path, name: str, path: str) -> None:
    (shop.parent / "outside.py").write_text("x = 1\n")
    text = written(name, make_pack(make_item(path, "x = 1\n")))
    try:
        assert states(check(shop, text, refresh=True)) == ["gone"]
    except InvalidRequest:
        assert name in ("items", "sections") and path == "\ud800.py"  # no JSON holds half a character


@pytest.mark.parametrize("path", [".env", ".git/config", "id_rsa", "src/../.env", "./.env", "linked.py"])
def test_a_sensitive_file_or_a_link_is_not_read(shop: Path, path: str) -> None:
    make_tree(shop, {".env": "x = 1\n", ".git/config": "x = 1\n", "id_rsa": "x = 1\n"})
    (shop / "linked.py").symlink_to("src/money.py")
    response = check(shop, written("context", make_pack(make_item(path, "x = 1\n"))), refresh=True)
    assert states(response) == ["gone"] and response.items[0].detail and "x = 1" not in response.refreshed


@pytest.mark.parametrize("name", FORMATS)
def test_an_edited_hash_is_a_changed_citation(shop: Path, name: str) -> None:
    item = cite(shop, "src/money.py", 4, 6)
    text = written(name, make_pack(item))
    text = (
        text.replace(item.content_hash[:SHORT_HASH], "0" * SHORT_HASH)
        if name in TEXT_FORMATS
        else text.replace("sum(", "max(")
    )
    assert states(check(shop, text)) == ["changed"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_cut_file_is_a_typed_error_and_stays_as_it_is(shop: Path, tmp_path: Path, name: str) -> None:
    text = written(name, shop_pack(shop))
    file = tmp_path / "pack"
    for share in (0.05, 0.3, 0.6, 0.8):
        cut = text[: int(len(text) * share)]
        file.write_text(cut)
        with pytest.raises(InvalidRequest):
            check(shop, pack=str(file), refresh=True)
        assert file.read_text() == cut


BAD = {
    "empty": b"",
    "blank": b" \n\n",
    "binary": b"\x7fELF\x00\x01",
    "latin": b"caf\xe9",
    "prose": b"# Notes\n\nNothing here.\n",
    "list": b"[1, 2]",
    "object": b"{}",
    "deep": b'{"a":' * 100_000,
    "failed": b'{"status": "error", "data": null}',
    "items": b'{"items": [1]}',
    "no path": b'{"items": [{"start_line": 1, "end_line": 1, "content": "x"}]}',
    "lines": b'{"items": [{"file": "a", "start_line": 3, "end_line": 1, "content": "x"}]}',
    "true": b'{"items": [{"file": "a", "start_line": true, "end_line": 1, "content": "x"}]}',
    "hash": b'{"items": [{"file": "a", "start_line": 1, "end_line": 1, "content_hash": "zz"}]}',
    "sections": b'{"sections": {"docs": {}}}',
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_no_pack_is_a_typed_error(shop: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(BAD[name])
    with pytest.raises(InvalidRequest) as caught:
        check(shop, pack=str(tmp_path / "file"))
    assert caught.value.hint and len(caught.value.message) < 300


def test_a_file_of_200_megabytes_is_refused_at_once(shop: Path, tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    with pytest.raises(InvalidRequest, match="bytes"):
        check(shop, pack=str(tmp_path / "huge"))


@pytest.mark.parametrize("name", ["nowhere", ".", "a\0b"])
def test_a_pack_that_cannot_be_read_is_not_found(shop: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFound):
        check(shop, pack=str(tmp_path / name))


@pytest.mark.parametrize(
    "fields",
    [{}, {"pack": "a", "text": "b"}, {"text": "# Context:", "output": "x"}],
    ids=["none", "both", "output"],
)
def test_a_request_that_names_no_one_pack_is_refused(shop: Path, fields: dict[str, str]) -> None:
    with memory_engine(shop) as engine, pytest.raises(InvalidRequest):
        run(session_of(engine), VerifyRequest(**fields))  # type: ignore[arg-type]


def test_a_tokenizer_that_a_pack_names_is_never_a_file(shop: Path) -> None:
    pack = make_pack(make_item("x.py", "x\n"), budget=Budget(tokenizer="/tmp/tokenizer.json", used_tokens=1))
    with pytest.raises(Unsupported):
        check(shop, written("context", pack), refresh=True)


def test_a_file_from_a_windows_shell_is_read() -> None:
    text = written("context", make_pack(make_item("größe.py", "a\nb\n")))
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        data = text.replace("\n", "\r\n").encode(encoding)
        assert (
            plugins.load("renderer", "context").read(saved_pack.decode(data)).citations[0].path == "größe.py"
        )


def test_a_pack_that_cannot_be_written_is_a_typed_error(shop: Path, tmp_path: Path) -> None:
    text = written("context", shop_pack(shop))
    with pytest.raises(InvalidRequest, match="cannot be written"):
        check(shop, text, refresh=True, output=str(tmp_path / "no" / "folder"))


def test_standard_input_is_read_and_the_new_pack_answered(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = written("context", shop_pack(shop))
    change(shop)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    response = check(shop, pack="-", refresh=True)
    assert response.refreshed.startswith("# Context:") and not response.written


def test_the_command_line_exits_with_1_when_not_all_is_true(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "pack.context"
    file.write_text(written("context", shop_pack(shop)))
    assert run_cli("verify", file, "--segment", shop).returncode == 0
    assert not (shop / "_ctx").exists()  # what is true is told without an index
    change(shop)
    done = run_cli("verify", file, "--segment", shop)
    assert done.returncode == 1 and b"moved    src/basket.py:6-13  now at src/basket.py:7-14" in done.stdout
    way_out = b"the same with --refresh writes the pack as it is now"
    assert way_out in done.stdout
    assert json.loads(run_cli("verify", file, "--segment", shop, "--json").stdout)["counts"]["gone"] == 1
    refreshed = run_cli("verify", file, "--refresh", "--segment", shop)
    assert refreshed.returncode == 1 and b"written" in refreshed.stdout
    assert way_out not in refreshed.stdout
    assert run_cli("verify", file, "--segment", shop).returncode == 0


def test_a_pipe_in_gives_a_pack_out(shop: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "satchel", "verify", "-", "--refresh", "--segment", str(shop)],
        input=written("xml", shop_pack(shop)).encode(),
        env=clean_environment(),
        capture_output=True,
        check=True,
    )
    assert plugins.load("renderer", "xml").read(done.stdout.decode()) is not None


def test_an_engine_without_an_index_verifies(shop: Path) -> None:
    change(shop)
    with Engine.open(shop) as engine:
        response = run(
            session_of(engine),
            VerifyRequest(text=written("context", make_pack(make_item("src/till.go", "x\n")))),
        )
    assert states(response) == [GONE.value]
