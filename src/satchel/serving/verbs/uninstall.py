"""`satchel uninstall`: remove Satchel from agent clients and leave their files as they were."""

from __future__ import annotations

from satchel.commands.command import Group
from satchel.errors import InvalidRequest
from satchel.serving.clients import Client
from satchel.serving.installing import launch
from satchel.serving.installing.installer import FileOutcome, Installer, Outcome
from satchel.serving.verbs import Verb
from satchel.serving.verbs.install import InstallRequest, InstallResponse, show, write_changes


def run(request: InstallRequest) -> InstallResponse:
    """Take the server, the instructions and the hook out of agent clients again.

    Without --client it looks at every client. Files are as they were before, with what was written into
    them since; a file or folder that was made for Satchel alone is removed.
    """
    installer = Installer(launch.current_machine(request.segment), request.scope)
    known = launch.all_clients()
    changes: list[FileOutcome] = []
    for client in _chosen_clients(request, known):
        if client.registration(request.scope) is not None:
            with_instructions = not request.no_instructions
            changes += installer.uninstall(client, known, with_instructions=with_instructions)
            changes += installer.uninstall_hook(client)
    if not request.clients:
        changes = [done for done in changes if done.outcome is not Outcome.ABSENT]
    notes = [] if changes else [f"nothing of Satchel is installed in {request.scope} scope"]
    return write_changes(installer, changes, notes, dry_run=request.dry_run)


def _chosen_clients(request: InstallRequest, known: list[Client]) -> list[Client]:
    """Return the clients that the request names, or all known ones."""
    if request.clients and request.all:
        raise InvalidRequest("--client and --all cannot be used together", hint="leave one out")
    return [launch.find_client(name) for name in dict.fromkeys(request.clients)] or known


VERB = Verb("uninstall", InstallRequest, run, show, group=Group.SET_UP)
