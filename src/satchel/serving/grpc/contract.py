"""The gRPC contract: the messages and methods as one table, its descriptor, and the published `.proto` text.

The descriptor is built here and not by protoc, so that no generated Python file can differ from the table.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

PACKAGE = "satchel.v1"
SERVICE = f"{PACKAGE}.Satchel"
FILE_NAME = "satchel/v1/satchel.proto"
_FILE_COMMENT = (
    "Satchel over gRPC: the JSON of the Command API in an envelope.",
    "Made from the code; a test fails when the two differ.",
)
_SERVICE_COMMENT = (
    "Answers requests of the Command API. An answer with status error is still OK; what is no request, too",
    "large, refused or out of time ends with its own status, and `satchel-error-bin` among the trailing",
    "metadata holds the envelope of the error.",
)


class _Field(NamedTuple):
    """A field of a message; the fields of one `oneof` exclude each other."""

    kind: str
    name: str
    number: int
    comment: str
    oneof: str = ""


class _Message(NamedTuple):
    """A message and its fields."""

    name: str
    comment: str
    fields: tuple[_Field, ...]


class _Method(NamedTuple):
    """A method; every method takes an Envelope."""

    name: str
    comment: str
    output: str
    is_stream: bool = False


_MESSAGES = (
    _Message(
        "Envelope",
        "A request or an answer of the Command API.",
        (
            _Field(
                "string", "json", 1, '{"action", "payload", …} as asked, {"status", "data", …} as answered'
            ),
        ),
    ),
    _Message(
        "Progress",
        "How far the work has come that must be done before the answer.",
        (_Field("int64", "done", 1, "steps done"), _Field("int64", "total", 2, "steps in all")),
    ),
    _Message(
        "Event",
        "What a stream says: how far it is, then the items of the answer one by one, at last the rest of it.",
        (
            _Field("Progress", "progress", 1, "while an index is brought up to date", "kind"),
            _Field("string", "item_json", 2, "an item of the answer", "kind"),
            _Field("string", "response_json", 3, "the envelope, without these items", "kind"),
            _Field("string", "list", 4, "beside response_json: the field of `data` that the items are of"),
        ),
    ),
)
_METHODS = (
    _Method("Command", "One request, one answer.", "Envelope"),
    _Method("Stream", "One request, its answer in parts.", "Event", is_stream=True),
)


@cache
def message_classes() -> dict[str, Any]:
    """Return the message classes by name. The descriptor joins protobuf's default pool for reflection."""
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(descriptor().SerializeToString())
    found = {message.name: pool.FindMessageTypeByName(f"{PACKAGE}.{message.name}") for message in _MESSAGES}
    return {name: message_factory.GetMessageClass(kind) for name, kind in found.items()}


def descriptor() -> Any:
    """Return the contract as a FileDescriptorProto."""
    file = descriptor_pb2.FileDescriptorProto(name=FILE_NAME, package=PACKAGE, syntax="proto3")
    for message in _MESSAGES:
        _describe(file.message_type.add(name=message.name), message)
    service = file.service.add(name=SERVICE.rpartition(".")[2])
    for method in _METHODS:
        service.method.add(
            name=method.name,
            input_type=f".{PACKAGE}.Envelope",
            output_type=f".{PACKAGE}.{method.output}",
            # protoc leaves the field out where it is false.
            **({"server_streaming": True} if method.is_stream else {}),
        )
    return file


def _describe(target: Any, message: _Message) -> None:
    """Add the fields of a message to its descriptor."""
    for field in message.fields:
        scalar = getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{field.kind.upper()}", None)
        added = target.field.add(
            name=field.name,
            json_name=_camel(field.name),
            number=field.number,
            label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL,
            type=scalar or descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE,
        )
        if scalar is None:
            added.type_name = f".{PACKAGE}.{field.kind}"
        if field.oneof:
            if field.oneof not in [declared.name for declared in target.oneof_decl]:
                target.oneof_decl.add(name=field.oneof)
            added.oneof_index = len(target.oneof_decl) - 1


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def proto_text() -> str:
    """Return the contract as the `.proto` text from which other languages generate clients."""
    lines = [
        *(f"// {line}" for line in _FILE_COMMENT),
        "",
        'syntax = "proto3";',
        "",
        f"package {PACKAGE};",
        "",
    ]
    lines += [*(f"// {line}" for line in _SERVICE_COMMENT), f"service {SERVICE.rpartition('.')[2]} {{"]
    for method in _METHODS:
        output = f"stream {method.output}" if method.is_stream else method.output
        lines += [f"  // {method.comment}", f"  rpc {method.name}(Envelope) returns ({output});"]
    lines.append("}")
    for message in _MESSAGES:
        lines += ["", f"// {message.comment}", f"message {message.name} {{", *_field_lines(message), "}"]
    return "\n".join(lines) + "\n"


def _field_lines(message: _Message) -> list[str]:
    """Return the fields of a message as lines of `.proto` text, with their `oneof` blocks."""
    lines: list[str] = []
    inside = ""
    for field in message.fields:
        if field.oneof != inside:
            lines += ["  }"] if inside else []
            lines += [f"  oneof {field.oneof} {{"] if field.oneof else []
            inside = field.oneof
        indent = "    " if inside else "  "
        lines.append(f"{indent}{field.kind} {field.name} = {field.number};  // {field.comment}")
    return [*lines, "  }"] if inside else lines
