"""ChunkManager and ChunkSearchTool: the documented calls, as documented."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import SHOP, make_tree, memory_engine

from satchel import ChunkManager, ChunkSearchTool
from satchel.errors import IndexMissing, InvalidRequest, ProjectNotFound


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = make_tree(tmp_path / "shop", SHOP)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def manager(shop: Path, tmp_path: Path) -> ChunkManager:
    made = ChunkManager(chunks_dir=tmp_path / "store/chunks", manifest_path=tmp_path / "store/manifest.json")
    made.ingest_directory(".")
    return made


def run(tool: ChunkSearchTool, **arguments: Any) -> Any:
    return asyncio.run(tool.execute(arguments))


def test_the_documented_search(manager: ChunkManager) -> None:
    results = manager.search_chunks(query="Basket", k=5, filters={"path_prefix": "src/"})
    first = results[0]
    assert first["source_path"] == "src/basket.py" and first["chunk_type"] == "class"
    assert first["chunk_id"].startswith("chunk_") and len(first["chunk_id"]) == len("chunk_") + 16
    assert first["snippet"] in first["content"] and first["start_line"] < first["end_line"]


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({"file_type": ".go"}, {"src/till.go"}),
        ({"chunk_type": "section"}, {"README.md", "docs/guide.md"}),
        ({"tags": ["python", "test"]}, {"tests/test_basket.py"}),
        ({"tags": "test"}, {"tests/test_basket.py"}),
        ({"tags": ["python", "src", "class"]}, {"src/basket.py"}),
        ({"tags": ["docs", "section"]}, {"README.md", "docs/guide.md"}),
        ({"chunk_type": "file"}, {"config.toml"}),
    ],
)
def test_the_documented_filters(manager: ChunkManager, filters: dict[str, Any], paths: set[str]) -> None:
    results = manager.search_chunks("basket till setup", 50, filters)
    assert {result["source_path"] for result in results} == paths


def test_lines_are_cited_as_they_are_now(manager: ChunkManager, shop: Path) -> None:
    before = manager.search_chunks("add_money")[0]
    text = (shop / "src/money.py").read_text()
    make_tree(shop, {"src/money.py": "import os\n\n" + text.replace("def add_money", "async def add_money")})
    after = manager.search_chunks("add_money")[0]
    assert (shop / "src/money.py").read_text().split("\n")[after["start_line"] - 1] in after["content"]
    assert after["start_line"] == before["start_line"] + 2 and "async def" in manager.search_text(
        "add_money", 1, None
    )


def test_a_chunk_that_has_changed_is_said_to_have(manager: ChunkManager, shop: Path) -> None:
    old = manager.search_chunks("add_money")[0]["chunk_id"]
    text = (shop / "src/money.py").read_text()
    make_tree(shop, {"src/money.py": text.replace("def add_money", "async def add_money")})
    found = manager.get_chunk(old)
    assert found is not None and found["fate"] == "changed" and "has changed" in found["detail"]
    assert manager.get_chunk(found["chunk_id"]) == {**found, "fate": "current", "detail": ""}


def test_what_was_ingested_is_kept_when_its_folder_is_gone(manager: ChunkManager, shop: Path) -> None:
    chunk_id = manager.search_chunks("add_money")[0]["chunk_id"]
    shop.rename(shop.parent / "elsewhere")
    again = ChunkManager(manager.chunks_dir, manager.manifest_path)
    assert again.get_chunk(chunk_id) is not None


def test_a_chunk_is_fetched_by_any_spelling_of_its_id(manager: ChunkManager) -> None:
    first = manager.search_chunks("add_money")[0]
    locator = f"{first['source_path']}:{first['start_line']}:{first['end_line']}"
    for spelling in (first["chunk_id"], first["id"], locator):
        chunk = manager.get_chunk(spelling)
        assert chunk is not None and chunk["content"] == first["content"]
    assert manager.get_chunk("chunk_0000000000000000") is None


def test_one_file_can_be_ingested(shop: Path, tmp_path: Path) -> None:
    manager = ChunkManager(tmp_path / "chunks", tmp_path / "manifest.json")
    found = manager.ingest_file("src/money.py")
    assert found == len(found.chunk_ids) == 2 and manager.get_stats()["total_sources"] == 1
    assert manager.ingest_file("src/money.py") == 0  # nothing of it is new
    manager.ingest_file("src/basket.py")
    assert manager.get_stats()["files_by_language"] == {"python": 2}


def test_a_folder_can_be_ingested_without_its_sub_folders(shop: Path, tmp_path: Path) -> None:
    manager = ChunkManager(tmp_path / "chunks", tmp_path / "manifest.json")
    manager.ingest_directory(".", recursive=False)
    files = {chunk["source_path"] for chunk in manager.search_chunks("shop till", 50)}
    assert files == {"README.md", "config.toml"}


def test_sensitive_files_are_left_out(shop: Path, tmp_path: Path) -> None:
    make_tree(shop, {".env": "TOKEN=1\n", "id_rsa": "key\n"})
    manager = ChunkManager(tmp_path / "chunks", tmp_path / "manifest.json")
    assert manager.ingest_file(".env") == 0 == manager.ingest_file("id_rsa")


def test_ingesting_again_changes_nothing(manager: ChunkManager) -> None:
    before = manager.get_stats()
    again = manager.ingest_directory(".")
    assert again == 0 and manager.get_stats() == before
    assert len(again.chunk_ids) == len(set(again.chunk_ids)) == before["total_chunks"]


def test_an_edit_shows_after_the_next_ingest(manager: ChunkManager, shop: Path) -> None:
    make_tree(shop, {"README.md": "# Unicorn\n"})
    manager.ingest_file("README.md")
    assert manager.search_chunks("unicorn")[0]["source_path"] == "README.md"


def test_the_manifest_holds_every_chunk_with_its_content(manager: ChunkManager) -> None:
    assert manager.save_manifest() is True
    manifest = json.loads(manager.manifest_path.read_bytes())
    assert len(manifest["chunks"]) == manifest["chunk_count"] == manager.get_stats()["total_chunks"]
    assert {name for names in manifest["source_to_chunks"].values() for name in names} == set(manager.chunks)
    wanted = {"chunk_id", "source_path", "start_line", "end_line", "content_hash", "tags", "created_at"}
    for chunk in manifest["chunks"]:
        assert wanted | {"chunk_type", "name", "content"} <= set(chunk)
        lines = Path(chunk["source_path"]).read_bytes().decode().splitlines(True)
        assert chunk["content"] == "".join(lines[chunk["start_line"] - 1 : chunk["end_line"]])


def test_a_restarted_manager_still_has_chunks_with_content(
    manager: ChunkManager, shop: Path, tmp_path: Path
) -> None:
    manager.save_manifest()
    again = ChunkManager(chunks_dir=tmp_path / "store/chunks", manifest_path=tmp_path / "store/manifest.json")
    assert again.get_stats() == manager.get_stats()
    first = again.search_chunks("Basket")[0]
    chunk = again.get_chunk(first["chunk_id"])
    assert chunk is not None and "class Basket" in chunk["content"]


def test_a_manager_restarted_elsewhere_keeps_its_root(
    manager: ChunkManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    again = ChunkManager(chunks_dir=tmp_path / "store/chunks", manifest_path=tmp_path / "store/manifest.json")
    assert again.search_chunks("Basket")[0]["source_path"] == "src/basket.py"


def test_a_manifest_of_before_is_never_a_source(shop: Path) -> None:
    tool = ChunkSearchTool(ChunkManager())
    tool.rebuild_index()
    again = tool.rebuild_index()
    assert "- New chunks: 0" in again and again == tool.rebuild_index()
    assert f"- Total chunks: {tool.chunk_manager.get_stats()['total_chunks']}" in again


def test_nothing_ingested_is_said(shop: Path, tmp_path: Path) -> None:
    manager = ChunkManager(tmp_path / "chunks", tmp_path / "manifest.json")
    assert manager.get_stats()["total_chunks"] == 0
    with pytest.raises(IndexMissing):
        manager.search_chunks("basket")


def test_what_does_not_exist_or_lies_outside_is_a_typed_error(manager: ChunkManager, tmp_path: Path) -> None:
    for call in (manager.ingest_file, manager.ingest_directory):
        with pytest.raises(ProjectNotFound):
            call("nowhere")
    (tmp_path / "outside.md").write_text("# Outside\n")
    with pytest.raises(InvalidRequest):
        manager.ingest_file(tmp_path / "outside.md")


def test_an_unknown_filter_is_an_error_that_lists_the_known(manager: ChunkManager) -> None:
    with pytest.raises(InvalidRequest) as caught:
        manager.search_chunks("basket", filters={"folder": "src"})
    assert "path_prefix" in caught.value.hint


def test_the_tool_describes_itself(manager: ChunkManager) -> None:
    tool = ChunkSearchTool(chunk_manager=manager)
    assert tool.name == "search_chunks" and tool.description
    assert tool.parameters["required"] == ["query"] and set(tool.parameters["properties"]) == {
        "query",
        "k",
        "filters",
    }


def test_the_tool_answers_in_the_documented_form(manager: ChunkManager) -> None:
    result = run(ChunkSearchTool(manager), query="Basket", k=2, filters={"path_prefix": "src/"})
    assert result.success and result.output.startswith(
        "Found 2 chunks matching 'Basket':\n\n[1] CHUNK_ID: chunk_"
    )
    assert (
        "    Source: src/basket.py (lines " in result.output and "    Type: class (Basket)" in result.output
    )
    assert (
        "    Snippet: " in result.output and "CITATION RULE: Always reference chunks by ID" in result.output
    )


def test_the_tool_proposes_searches_when_nothing_is_found(manager: ChunkManager) -> None:
    result = run(ChunkSearchTool(manager), query="Baskit")
    assert result.success and result.output.startswith("No chunks found matching 'Baskit'.\nSUGGESTION: ")
    assert "- 'Basket'" in result.output
    nothing = run(ChunkSearchTool(manager), query="qqqqqq")
    assert "SUGGESTION: " in nothing.output and "- '" not in nothing.output


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": None},
        {"query": ""},
        {"query": 5},
        {"query": "basket", "k": 0},
        {"query": "basket", "k": "many"},
        {"query": "basket", "filters": {"nonsense": "x"}},
        {"query": "basket", "filters": "src"},
        {"query": "basket", "filters": {"path_prefix": 5}},
        {"query": "basket", "filters": {"tags": 5}},
        {"query": "basket", "filters": {"tags": [5]}},
    ],
)
def test_a_bad_argument_is_an_answer_not_an_exception(
    manager: ChunkManager, arguments: dict[str, Any]
) -> None:
    result = run(ChunkSearchTool(manager), **arguments)
    assert not result.success and result.error and str(result).startswith("Error: ")


def test_the_tool_builds_its_index_by_itself(shop: Path, tmp_path: Path) -> None:
    tool = ChunkSearchTool(ChunkManager(tmp_path / "chunks", tmp_path / "manifest.json"))
    assert "src/basket.py" in run(tool, query="Basket").output
    assert (tmp_path / "manifest.json").exists()


def test_a_manifest_in_the_tree_is_not_indexed(tmp_path: Path) -> None:
    root = make_tree(tmp_path, SHOP)
    manager = ChunkManager(chunks_dir=root / "store" / "chunks", manifest_path=root / "store" / "kept.json")
    manager.ingest_directory(root)
    manager.save_manifest()
    engine = memory_engine(root)
    assert not [record.path for record in engine.snapshot().files() if record.path.endswith("kept.json")]


def test_what_is_known_of_every_chunk_is_at_hand(manager: ChunkManager) -> None:
    found = manager.chunks
    assert list(found) == [chunk.id for chunk in found.values()]
    assert (
        len(found) == manager.get_stats()["total_chunks"] == sum(manager.get_stats()["chunk_types"].values())
    )
    basket = next(chunk for chunk in found.values() if chunk.name == "Basket")
    assert (basket.source_path, basket.chunk_type) == ("src/basket.py", "class")
    assert {"python", "class"} <= set(basket.tags) and basket.created_at
    shown = manager.get_chunk(basket.id)
    assert shown is not None and shown["content_hash"] == basket.hash
    assert shown["start_line"] == basket.start_line and shown["end_line"] == basket.end_line


def test_statistics_say_where_everything_is(manager: ChunkManager) -> None:
    stats = manager.get_stats()
    assert stats["manifest_path"] == str(manager.manifest_path)
    assert stats["chunks_dir"] == str(manager.chunks_dir)


@pytest.mark.parametrize("with_files", [True, False])
def test_a_manifest_is_enough_when_the_chunks_are_lost(
    manager: ChunkManager, shop: Path, tmp_path: Path, with_files: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager.save_manifest()
    before, first = manager.chunks, manager.search_chunks("add_money")[0]
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(manager.chunks_dir)
    if not with_files:
        shop.rename(tmp_path / "elsewhere")
    for _ in range(2):  # from the manifest, then from the index that was made of it
        again = ChunkManager(manager.chunks_dir, manager.manifest_path)
        assert list(again.chunks) == list(before)
        assert again.search_chunks("add_money")[0] == first
        got = again.get_chunk(first["chunk_id"])
        assert got is not None and got["content"] == first["content"] and got["fate"] == "current"
        assert again.get_stats()["total_chunks"] == len(before)


def test_a_manifest_that_was_read_is_written_again_whole(
    manager: ChunkManager, shop: Path, tmp_path: Path
) -> None:
    manager.save_manifest()
    kept = json.loads(manager.manifest_path.read_bytes())["chunks"]
    shutil.rmtree(manager.chunks_dir)
    shop.rename(tmp_path / "elsewhere")
    again = ChunkManager(manager.chunks_dir, manager.manifest_path)
    assert again.save_manifest()
    told = json.loads(manager.manifest_path.read_bytes())["chunks"]
    assert [{**chunk, "created_at": ""} for chunk in told] == [{**chunk, "created_at": ""} for chunk in kept]


def test_what_is_ingested_after_a_loss_comes_beside_what_the_manifest_has(
    manager: ChunkManager, shop: Path
) -> None:
    manager.save_manifest()
    before = set(manager.chunks)
    shutil.rmtree(manager.chunks_dir)
    make_tree(shop, {"src/new.py": "def brand_new():\n    return 1\n"})
    again = ChunkManager(manager.chunks_dir, manager.manifest_path)
    assert again.ingest_file("src/new.py") == 1 and before < set(again.chunks)


def test_a_manifest_without_content_is_no_index(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text('{"version": "1.3", "chunks": [{"id": "chunk_0", "source_path": "src/money.py"}]}')
    manager = ChunkManager(tmp_path / "chunks", path)
    assert manager.chunks == {} and manager.get_stats()["total_chunks"] == 0
    with pytest.raises(IndexMissing, match="no manifest that can be read"):
        manager.search_chunks("basket")
    assert manager.ingest_file("src/money.py") == 2


def test_the_environment_says_where_chunks_are_kept(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_CHUNKS_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("AGENT_CHUNKS_MANIFEST", str(tmp_path / "kept.json"))
    ChunkSearchTool().rebuild_index(".")
    assert (tmp_path / "kept" / "context.db").exists() and (tmp_path / "kept.json").exists()
    assert not (shop / "store").exists()
    workspace = ChunkSearchTool(workspace_dir=tmp_path / "workspace").chunk_manager.get_stats()
    assert workspace["manifest_path"] == str(tmp_path / "workspace" / "chunks_manifest.json")


@pytest.mark.parametrize(("value", "enabled"), [("true", True), ("1", True), ("false", False), ("", True)])
def test_the_environment_switches_the_tool_off(
    manager: ChunkManager, monkeypatch: pytest.MonkeyPatch, value: str, enabled: bool
) -> None:
    monkeypatch.setenv("AGENT_ENABLE_CHUNK_SEARCH", value)
    result = run(ChunkSearchTool(manager), query="Basket")
    assert result.success is enabled and (enabled or "AGENT_ENABLE_CHUNK_SEARCH" in result.error)


def test_a_call_without_a_query_names_what_is_missing(manager: ChunkManager) -> None:
    result = run(ChunkSearchTool(manager), k=5)
    assert not result.success and result.error == "Missing required parameter: 'query'"
    assert result.tool_call_id == "" and result.output == ""
