"""The model that a person at the terminal talks with: named, set, or one of Ollama's on this machine."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Mapping

from picomem.errors import InvalidInput
from picomem.light_dataclass import replace
from picomem.models.provider import PROVIDERS
from picomem.settings import Settings, given, load

_NO_MODEL = (
    "No model is set to talk with: install Ollama (https://ollama.com) and run `ollama pull qwen3:8b`, or set "
    "provider, model and key in [model] of the settings, or name one, as in `picomem chat --model openai:gpt-5-mini`."
)
_OLLAMA_SECONDS = 2.0  # it answers at once, or is not there
_LONGEST = 1_000_000


def settings_for_a_person() -> Settings:
    """The settings, with memory on unless somebody has turned it off. Raises InvalidInput."""
    settings = load()
    if "memory.enabled" in given():
        return settings
    return replace(settings, memory=replace(settings.memory, enabled=True))


def with_model(settings: Settings, name: str) -> Settings:
    """Settings that name a model to talk with: of that name, of the settings, or Ollama's on this machine.

    Raises InvalidInput where there is none.
    """
    chosen = settings.model
    provider, colon, rest = name.partition(":")
    if name and colon and provider in PROVIDERS:
        same = provider == chosen.provider
        chosen = replace(
            chosen if same else type(chosen)(timeout_secs=chosen.timeout_secs), provider=provider, model=rest
        )
    elif name:
        chosen = replace(chosen, model=name)
    if not (chosen.provider and chosen.model):
        wanted = chosen.model
        installed = _installed() if chosen.provider in ("", "ollama") else []
        if not installed or (wanted and wanted not in installed):
            raise InvalidInput(_NO_MODEL)
        chosen = replace(chosen, provider="ollama", model=wanted or installed[0], base_url=_base_url())
    return replace(settings, model=chosen)


def _installed(env: Mapping[str, str] = os.environ) -> list[str]:
    """The names of Ollama's models that talk, the latest first; none where it does not run.

    It is asked on the loopback only, at the port of OLLAMA_HOST where that names one.
    """
    host, port = _place(env.get("OLLAMA_HOST", ""))
    connection = http.client.HTTPConnection(host, port, timeout=_OLLAMA_SECONDS)
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


def _base_url(env: Mapping[str, str] = os.environ) -> str:
    """Return the address at which Ollama speaks OpenAI's protocol."""
    host, port = _place(env.get("OLLAMA_HOST", ""))
    return f"http://{host}:{port}/v1"


def _place(given: str) -> tuple[str, int]:
    host, _, port = given.removeprefix("http://").rstrip("/").rpartition(":")
    local = host in ("127.0.0.1", "localhost", "0.0.0.0", "")
    return "127.0.0.1", int(port) if local and port.isdigit() and len(port) < 6 else 11434
