"""MCP: the commands as tools for agents, over standard input and output or streamable HTTP."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from satchel.plugins import late
from satchel.serving.access import Access
from satchel.serving.dispatcher import Dispatcher
from satchel.serving.transport import ServeOptions, Transport

if TYPE_CHECKING:
    from satchel.serving.agents import http, server, stdio, wire
else:  # whoever lists the transports loads no server
    http, server, stdio, wire = (
        late(f"satchel.serving.agents.{name}") for name in ("http", "server", "stdio", "wire")
    )


def run(dispatcher: Dispatcher, access: Access, options: ServeOptions) -> int:
    """Serve until the input ends, SIGINT or SIGTERM."""
    taken = wire.Wire() if options.port is None else None
    agents = _load(dispatcher, options)
    if taken is None:
        return http.serve(dispatcher, agents, access, options)

    return stdio.serve(taken, dispatcher, agents, most_bytes=options.max_body_bytes)


def _load(dispatcher: Dispatcher, options: ServeOptions) -> server.AgentServer:
    """The package makes a hundred thousand objects while it is loaded, none of which is ever garbage: not
    looking for it saves a tenth of the start. Plug-ins of its models would only watch."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    gc.disable()
    try:
        return server.AgentServer(
            dispatcher, seconds=options.timeout_seconds, most_calls=options.max_concurrent
        )
    finally:
        gc.freeze()
        gc.enable()


TRANSPORT = Transport("mcp", run, extra="mcp")
