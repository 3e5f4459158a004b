"""Which clients show an agent the text of a result, and which only its structured content?

A result has both. Some clients hand the model the structured content alone whenever there is one, with or
without an output schema; the quoted code, which stands in the text only, would never be seen. For these the
tools are listed without output schemas and answered by text alone, unless the whole data is asked for.
"""

from __future__ import annotations

_SHOW_NO_TEXT = ("claude-code", "claude code", "codex", "visual studio code", "vscode")


def hides_text_behind_data(client: str) -> bool:
    """Whether a client, by the name it gives itself, shows no text where there is structured content."""
    name = client.lower()
    return any(known in name for known in _SHOW_NO_TEXT)
