"""PicoBot, and memory for any agent on pydantic-ai.

from picomem.agent import MemoryCapability

agent = Agent(model, capabilities=[MemoryCapability(picomem.open())])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from picomem.agent.capability import Fence, MemoryCapability
    from picomem.agent.loop import PicoBot

__all__ = ["Fence", "MemoryCapability", "PicoBot"]

_PLACES = {
    "Fence": "picomem.agent.capability",
    "MemoryCapability": "picomem.agent.capability",
    "PicoBot": "picomem.agent.loop",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: the adapters need no pydantic-ai."""
    if name not in _PLACES:
        raise AttributeError(f"module 'picomem.agent' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
