"""`uninstall`: take Satchel out of agent clients, and leave their files as they were."""

from __future__ import annotations

from satchel.commands.command import Group
from satchel.errors import InvalidRequest
from satchel.serving.clients.client import Client
from satchel.serving.installing import launch
from satchel.serving.installing.installer import Done, Installer, Outcome
from satchel.serving.verb import Verb
from satchel.serving.verbs.install import InstallRequest, InstallResponse, finished, show


def run(request: InstallRequest) -> InstallResponse:
    """Take the server and the instructions out of agent clients again.

    Without --client it looks at every client. Files are as they were before, with what was written into
    them since; a file or folder that was made for Satchel alone is removed.
    """
    where = launch.machine(request.segment)
    installer = Installer(where, request.scope)
    everybody = launch.clients()
    changes: list[Done] = []
    for client in _chosen(request, everybody):
        if client.link(request.scope) is not None:
            changes += installer.uninstall(client, everybody, instructions=not request.no_instructions)
    if not request.clients:
        changes = [done for done in changes if done.outcome is not Outcome.ABSENT]
    notes = [] if changes else [f"nothing of Satchel is installed in {request.scope} scope"]
    return finished(installer, changes, notes, dry_run=request.dry_run)


def _chosen(request: InstallRequest, everybody: list[Client]) -> list[Client]:
    if request.clients and request.all:
        raise InvalidRequest("--client and --all cannot be used together", hint="leave one out")
    return [launch.named(name) for name in dict.fromkeys(request.clients)] or everybody


VERB = Verb("uninstall", InstallRequest, run, show, group=Group.SET_UP)
