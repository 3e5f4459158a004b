"""The transports (HTTP, gRPC, MCP), one file each: their protocol, and the options of `satchel serve`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta

from satchel.commands.command import BareValue, Flag, Positional
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher

_Words = tuple[str, ...]


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of `satchel serve`. A limit holds for every transport that can apply it."""

    transport: Annotated[str, Meta(description="http, grpc or mcp"), Positional()]
    segments: Annotated[
        _Words, Meta(description="a folder to serve (repeatable; default: .)"), Flag("--segment"), Flag("-s")
    ] = ()
    library: Annotated[
        str | None,
        Meta(description="serve a library as one project: the user's own, or that of a folder or URL"),
        BareValue(""),
    ] = None
    cluster: Annotated[
        str,
        Meta(
            description="with --library: spread it over the workers of a Dask cluster: "
            "tcp://host:port, local or local:N"
        ),
    ] = ""
    allow_partial: Annotated[
        bool,
        Meta(description="with --library: leave out repositories whose store cannot be reached, and say so"),
    ] = False
    host: Annotated[str, Meta(description="the address to listen on")] = "127.0.0.1"
    port: Annotated[
        int | None, Meta(description="the port to listen on; 0 takes a free one; mcp without one: stdio")
    ] = None
    public: Annotated[bool, Meta(description="allow an address that other machines reach; needs a token")] = (
        False
    )
    token: Annotated[str, Meta(description="callers must send this token (better: SATCHEL_TOKEN)")] = ""
    allow_hosts: Annotated[
        _Words, Meta(description="also answer to this host name (repeatable)"), Flag("--allow-host")
    ] = ()
    allow_origins: Annotated[
        _Words, Meta(description="let pages of this origin call (repeatable)"), Flag("--allow-origin")
    ] = ()
    index_dir: Annotated[
        str, Meta(description="keep the index in this folder or at this store URL, not in _ctx/")
    ] = ""
    profile: Annotated[str, Meta(description="rank by quality (default) or fast: without vectors")] = ""
    no_watch: Annotated[bool, Meta(description="do not watch the folder: look before every answer")] = False
    max_body_bytes: Annotated[int, Meta(description="the largest request")] = 8 * 1024 * 1024
    max_concurrent: Annotated[int, Meta(description="requests at once; more are told to come again")] = 64
    workers: Annotated[
        int | None, Meta(description="processes that answer, for http and grpc (default: one for each core)")
    ] = None
    timeout_seconds: Annotated[float, Meta(description="after this a call is given up")] = 120.0
    json: Annotated[bool, Meta(description="say where it listens as one line of JSON")] = False


class Transport(msgspec.Struct, frozen=True):
    """A transport of calls.

    `run` serves a dispatcher until it is told to stop, and returns the exit code. It starts and closes the
    dispatcher itself, because MCP must answer its handshake before anything is loaded.
    """

    name: str
    run: Callable[[Dispatcher, Access, ServeOptions], int]
    extra: str  # the extra of the distribution that installs its packages
    parallel: bool = False  # whether it expects several callers at the same time
