"""Which embedder the settings ask for."""

from __future__ import annotations

from pathlib import Path

from picomem.errors import InvalidInput
from picomem.models.embedder import Embedder
from picomem.settings import EmbedderSettings


def embedder_of(chosen: str, settings: EmbedderSettings) -> Embedder | None:
    """The embedder of that name, as `recall.embedder` writes it; None for "none". Raises InvalidInput.

    Nothing is loaded or connected to before the first text.
    """
    kind, colon, name = chosen.partition(":")
    if chosen == "none":
        return None
    if chosen == "static":
        from picomem.models.static import StaticEmbedder

        return StaticEmbedder()
    if colon and not name.strip():
        raise InvalidInput(f"recall.embedder is “{chosen}”; what it is of is missing behind the colon.")
    if kind == "onnx" and colon:
        from picomem.models.onnx import OnnxEmbedder, recipe_of

        return OnnxEmbedder(recipe_of(Path(name), settings), settings.threads)
    if kind == "endpoint" and colon:
        from picomem.models.endpoint import EndpointEmbedder

        return EndpointEmbedder(name, settings)
    if kind == "fastembed" and colon:
        from picomem.models.downloading import DownloadedEmbedder

        return DownloadedEmbedder(name, settings)
    raise InvalidInput(
        f"“{chosen[:80]}” is no embedder; it is static, none, onnx:FOLDER, endpoint:MODEL or fastembed:MODEL."
    )
