"""The published schemas are those of the code, and real answers satisfy them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from builders import SHOP, make_item, make_pack, make_tree, session_of
from schema_checks import check_schema

from satchel import Engine, MemoryStore, plugins
from satchel.commands.command import Command
from satchel.rendering.packs import context
from satchel.serving.generated_files import schemas

CONTRACTS = Path(__file__).parent.parent / "contracts" / "v1"
REQUESTS = {
    "batch": {"items": [{"id": "one", "action": "search", "payload": {"query": "basket"}}]},
    "build": {"dry_run": True, "verbose": True},
    "build_context_pack": {"query": "basket total price", "section_caps": {"docs": 1}, "trace": True},
    "context_pack": {"query": "Basket", "strategy": "deep", "trace": True},
    "eval": {"dataset": str(Path(__file__).parent / "evaluation" / "shop.jsonl"), "by": "category"},
    "files": {"depth": 1, "sort": "used_by"},
    "get": {"ids": ["README:0000000000", "src/money.py:1:2"]},
    "grep": {"pattern": "add_money", "context": 1},
    "impact": {"name": "add_money"},
    "index": {},
    "map": {},
    "onboard": {},
    "pack": {"query": "basket total price", "format": "markdown", "trace": True},
    "path": {"start": "Basket.total_price", "end": "add_money"},
    "prompt": {},
    "recall": {"prompt": "where does Basket.total_price add_money of its items?"},
    "refs": {"name": "add_money"},
    "runs": {},
    "search": {"query": "add money", "explain": True},
    "stats": {},
    "status": {"skipped": True},
    "symbols": {"name": "src/money.py"},
    "sync": {"dry_run": True},
    "validate": {},
    "verify": {"text": context.render(make_pack(make_item("src/money.py", "RATE = 2\n"))), "refresh": True},
}


def test_the_published_schemas_are_those_of_the_code(update_golden: bool) -> None:
    found = {name: json.dumps(schema, indent=2) + "\n" for name, schema in schemas().items()}
    if update_golden:
        CONTRACTS.mkdir(parents=True, exist_ok=True)
        for name, text in found.items():
            (CONTRACTS / name).write_text(text)
    assert {path.name: path.read_text() for path in CONTRACTS.glob("*.json")} == found


@pytest.mark.parametrize("name", plugins.names("command"))
def test_a_real_answer_satisfies_its_schema(name: str, tmp_path: Path) -> None:
    engine = Engine.open(make_tree(tmp_path, SHOP))
    engine.refresh()
    if name == "validate":
        build: Command = plugins.load("command", "build")
        build.run(engine, build.request())
    command: Command = plugins.load("command", name)
    check_schema(REQUESTS[name], f"{name}.request")
    subject = session_of(engine) if command.takes_session else engine
    response = command.run(subject, msgspec.convert(REQUESTS[name], command.request))
    answer = json.loads(msgspec.json.encode(response))
    check_schema(answer, f"{name}.response")


def test_a_real_pack_satisfies_its_schema(tmp_path: Path) -> None:
    engine = Engine.open(make_tree(tmp_path, SHOP), store=MemoryStore())
    engine.refresh()
    pack = json.loads(msgspec.json.encode(engine.pack_layers(documents_only=False)))
    check_schema(pack, "context_pack_layers")
