"""Ollama on this machine: lists its models, without any other server."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

_SECONDS = 2.0  # it answers at once, or is not there
_LONGEST = 1_000_000


def installed(env: Mapping[str, str] = os.environ) -> list[str]:
    """The names of its models that talk, the latest first; none where it does not run.

    It is asked on the loopback only, at the port of OLLAMA_HOST where that names one.
    """
    import http.client

    host, port = _place(env.get("OLLAMA_HOST", ""))
    connection = http.client.HTTPConnection(host, port, timeout=_SECONDS)
    try:
        connection.request("GET", "/api/tags")
        response = connection.getresponse()
        body = json.loads(response.read(_LONGEST)) if response.status == 200 else None
    except (OSError, http.client.HTTPException, ValueError):
        return []
    finally:
        connection.close()
    listed = body.get("models") if isinstance(body, dict) else None
    models = [model for model in listed if isinstance(model, dict)] if isinstance(listed, list) else []
    models.sort(key=lambda model: str(model.get("modified_at", "")), reverse=True)
    names = [str(model.get("name") or "") for model in models]
    return [name for name in names if name and "embed" not in name]


def base_url(env: Mapping[str, str] = os.environ) -> str:
    """Return the address at which it speaks OpenAI's protocol."""
    host, port = _place(env.get("OLLAMA_HOST", ""))
    return f"http://{host}:{port}/v1"


def _place(given: str) -> tuple[str, int]:
    host, _, port = given.removeprefix("http://").rstrip("/").rpartition(":")
    local = host in ("127.0.0.1", "localhost", "0.0.0.0", "")
    return "127.0.0.1", int(port) if local and port.isdigit() and len(port) < 6 else 11434
