"""`context_pack` answers as its contract's two examples do: an identifier, and a path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import age, make_tree, memory_engine, run_cli, session_of

from satchel.commands.context_pack import ContextPackRequest, run
from satchel.visible_json import compact

CACHE = """\
use crate::error::Result;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

const CACHE_FOLDER: &str = "embeddings";

pub(crate) struct EmbeddingCache {
    base_dir: PathBuf,
}

impl EmbeddingCache {
    pub fn new(root: &Path) -> Self {
        Self { base_dir: root.join(CACHE_FOLDER) }
    }

    pub fn path_of(&self, text: &str) -> Result<PathBuf> {
        Ok(self.base_dir.join(format!("{:x}", Sha256::digest(text))))
    }
}
"""
CORPUS = """\
use context_code_chunker::CodeChunk;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;


pub const CHUNK_CORPUS_SCHEMA_VERSION: u32 = 1;


pub struct ChunkCorpus {
    files: BTreeMap<String, Vec<CodeChunk>>,
}

impl ChunkCorpus {
    pub fn load(path: &Path) -> Self {
        read(path)
    }

    pub fn ids(&self) -> HashSet<String> {
        self.files.keys().cloned().collect()
    }
}
"""
STORE = """\
use crate::corpus::ChunkCorpus;
use crate::embedding_cache::EmbeddingCache;

pub struct VectorStore {
    cache: EmbeddingCache,
    corpus: ChunkCorpus,
}
"""
FOLDER = "crates/vector-store/src"
KEYS = {"version", "query", "model_id", "profile", "items", "budget", "meta"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    library = "mod corpus;\nmod embedding_cache;\nmod store;\n"
    files = {"embedding_cache.rs": CACHE, "corpus.rs": CORPUS, "store.rs": STORE, "lib.rs": library}
    return age(make_tree(tmp_path, {f"{FOLDER}/{name}": text for name, text in files.items()}))


def answer(root: Path, query: str, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        compact(run(session_of(memory_engine(root)), ContextPackRequest(query=query, **options)))
    )
    return found


def test_an_identifier_is_answered_by_its_definition(root: Path) -> None:
    found = answer(root, "EmbeddingCache", max_chars=800)
    assert set(found) == KEYS and found["version"] == 1 and found["profile"] == "quality"
    first = found["items"][0]
    assert (
        first["id"] == f"{FOLDER}/embedding_cache.rs:7:9" and first["file"] == f"{FOLDER}/embedding_cache.rs"
    )
    assert (first["start_line"], first["end_line"]) == (7, 9)
    assert (first["symbol"], first["type"], first["role"]) == ("EmbeddingCache", "struct", "primary")
    assert first["score"] == 1.0 and first["imports"] == ["use std::path::{Path, PathBuf};"]
    assert first["content"] == "pub(crate) struct EmbeddingCache {\n    base_dir: PathBuf,\n}\n"
    budget = found["budget"]
    assert (
        budget["max_chars"] == 800 >= budget["used_chars"] and budget["truncated"] and budget["dropped_items"]
    )


def test_a_path_is_answered_by_the_definitions_of_its_file_in_their_order(root: Path) -> None:
    found = answer(root, f"{FOLDER}/corpus.rs", max_chars=1200)
    shown = [(item["id"].partition("src/")[2], item["symbol"], item["type"]) for item in found["items"][:2]]
    assert shown == [
        ("corpus.rs:7:7", "CHUNK_CORPUS_SCHEMA_VERSION", "const"),
        ("corpus.rs:10:12", "ChunkCorpus", "struct"),
    ]
    assert found["items"][0]["content"] == "pub const CHUNK_CORPUS_SCHEMA_VERSION: u32 = 1;\n"
    assert found["items"][0]["imports"] == []
    assert found["items"][1]["imports"] == [
        "use context_code_chunker::CodeChunk;",
        "use std::collections::{BTreeMap, HashSet};",
    ]
    assert found["budget"]["truncated"] and 1.0 >= found["items"][1]["score"] > 0.9


def test_a_small_answer_leaves_out_the_state_of_a_fresh_index_and_a_usual_one_has_it(root: Path) -> None:
    assert answer(root, "EmbeddingCache", max_chars=800)["meta"]["index_state"] is None
    meta = answer(root, "EmbeddingCache")["meta"]
    assert meta["index_state"]["stale"] is False and meta["index_state"]["schema_version"] == 1
    assert meta["trust"]["anchor_primary"] == "EmbeddingCache" and meta["trust"]["anchor_hits"] == 3


def test_the_command_line_prints_the_same_data(root: Path) -> None:
    done = run_cli("context_pack", "EmbeddingCache", "--segment", root, "--json")
    data = json.loads(done.stdout)
    assert set(data) == KEYS and data["items"] == answer(root, "EmbeddingCache")["items"]


def test_related_items_say_how_they_belong(root: Path) -> None:
    found = answer(root, "EmbeddingCache", limit=5)["items"]
    related = [item for item in found if item["role"] == "related"]
    assert [(item["symbol"], item["distance"]) for item in related] == [("VectorStore", 1)]
    assert "uses" in related[0]["relationship"]
