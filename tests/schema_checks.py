"""Is an answer one that the published schemas allow? Schemas are made and compiled once for all tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import jsonschema

from satchel.serving.generated_files import schemas


def check_schema(value: object, name: str) -> None:
    """Raise if a value does not fit the schema `contracts/v1/NAME.schema.json`."""
    _validator(f"{name}.schema.json").validate(value)


@cache
def _schemas() -> dict[str, dict[str, Any]]:
    return schemas()


@cache
def _validator(file: str) -> Any:
    schema = _schemas()[file]
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)
