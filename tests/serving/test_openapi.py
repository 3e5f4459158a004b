"""The published HTTP interface, tried out by a tool that reads nothing but the document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import schemathesis
from builders import SHOP, make_tree
from http_server import Server, serving
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from satchel import plugins
from satchel.serving.http import openapi

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
DOCUMENT = json.loads(openapi.text())
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = make_tree(tmp_path_factory.mktemp("openapi") / "shop", SHOP)
    with serving(root, "--workers", "1") as server:
        server.command("index")
        yield server


@SCHEMA.parametrize()
@settings(
    max_examples=8,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_operation_does_what_the_document_says(case: schemathesis.Case, server: Server) -> None:
    case.call_and_validate(base_url=server.url, checks=CHECKS, timeout=30)


def test_the_document_is_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1") and SCHEMA.validate() is None


def test_every_command_is_in_the_document() -> None:
    posted = {path for path, methods in DOCUMENT["paths"].items() if "post" in methods}
    assert posted == {"/v1/command", *(f"/v1/{name}" for name in plugins.names("command"))}


def test_a_field_that_names_a_file_of_the_machine_is_not_in_it() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert (
        "output" not in schemas["BuildRequest"]["properties"]
        and "dataset" not in schemas["EvalRequest"]["properties"]
    )
    assert "tokenizer" in schemas["PackCommandRequest"]["properties"]


@pytest.mark.parametrize("name", ["search", "context_pack", "get", "status"])
def test_a_real_answer_is_what_the_document_says(server: Server, name: str) -> None:
    payload = (
        {"query": "basket"}
        if name in ("search", "context_pack")
        else {"ids": ["README.md"]}
        if name == "get"
        else {}
    )
    schema = DOCUMENT["paths"][f"/v1/{name}"]["post"]["responses"]["200"]["content"]["application/json"][
        "schema"
    ]
    answer = server.call(f"/v1/{name}", payload).json
    assert answer["status"] == "ok"
    jsonschema.validate(answer, {**schema, "components": DOCUMENT["components"]})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**answer, "data": {"hits": 1}}, {**schema, "components": DOCUMENT["components"]})


def test_the_published_document_is_that_of_the_code() -> None:
    published = Path(__file__).parents[2] / "contracts" / "v1" / "openapi.json"
    assert published.read_text() == openapi.text()
