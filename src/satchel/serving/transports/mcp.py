"""MCP: the commands as tools for agents, over standard input and output or streamable HTTP."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transports import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.serving.mcp import server, stdio, streamable_http
else:  # listing the transports must load no server
    server, stdio, streamable_http = (
        late(f"satchel.serving.mcp.{name}") for name in ("server", "stdio", "streamable_http")
    )


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until the input ends, SIGINT or SIGTERM; return the exit code."""
    if options.port is not None:
        return streamable_http.serve(dispatcher, _load_server(dispatcher, options), access, options)
    # The descriptors are taken before any package is loaded that could print.
    descriptors = _take_standard_streams()
    mcp_server = _load_server(dispatcher, options)
    streams = stdio.StandardStreams(*descriptors)
    return stdio.serve(streams, dispatcher, mcp_server, max_bytes=options.max_body_bytes)


def _take_standard_streams() -> tuple[int, int]:
    """Return descriptors of our own for standard input and output, and redirect the standard ones.

    Descriptor 1 leads to standard error from then on, so that no print of a library or child process gets
    between two messages. Descriptor 0 leads to nothing, so that no child process reads a message.
    """
    sys.stdout.flush()
    input_descriptor, output_descriptor = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return input_descriptor, output_descriptor


def _load_server(dispatcher: Dispatcher, options: ServeOptions) -> server.McpServer:
    """Load the `mcp` package and return our server.

    Loading creates a hundred thousand objects, none of them garbage: switching the collector off saves a
    tenth of the start. The plug-ins of pydantic would only observe.
    """
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    gc.disable()
    try:
        return server.McpServer(
            dispatcher, timeout_seconds=options.timeout_seconds, max_calls=options.max_concurrent
        )
    finally:
        gc.freeze()
        gc.enable()


TRANSPORT = Transport("mcp", run, extra="mcp")
