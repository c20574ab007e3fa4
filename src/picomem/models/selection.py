"""Selects the embedder and the text generator by the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from picomem.errors import InvalidInput
from picomem.models.embedder import Embedder
from picomem.settings import Settings
from picomem.settings_tables import EmbedderSettings

if TYPE_CHECKING:
    from picomem.models.generator import Generator


def embedder_of(chosen: str, settings: EmbedderSettings) -> Embedder | None:
    """The embedder of that name, as `recall.embedder` writes it; None for "none". Raises InvalidInput, and
    EmbedderFailed where its model is not there.

    Nothing is loaded or connected to before the first text.
    """
    kind, colon, name = chosen.partition(":")
    if chosen == "none":
        return None
    if chosen == "static":
        from picomem.models.static_embedder import StaticEmbedder

        return StaticEmbedder()
    if colon and not name.strip():
        raise InvalidInput(f"recall.embedder is “{chosen}”; what it is of is missing behind the colon.")
    if kind == "onnx" and colon:
        from picomem.models.onnx_embedder import OnnxEmbedder, recipe_of

        return OnnxEmbedder(recipe_of(Path(name), settings), settings.threads)
    if kind == "endpoint" and colon:
        from picomem.models.endpoint_embedder import EndpointEmbedder

        return EndpointEmbedder(name, settings)
    if kind == "fastembed" and colon:
        from picomem.models.fastembed_embedder import DownloadedEmbedder

        return DownloadedEmbedder(name, settings)
    raise InvalidInput(
        f"“{chosen[:80]}” is no embedder; it is static, none, onnx:FOLDER, endpoint:MODEL or fastembed:MODEL."
    )


def generator_of(settings: Settings) -> Generator:
    """The generator for consolidation: the model of `memory.consolidation_model`, the command of
    `memory.consolidation_command`, or the extractive generator where neither is set.

    Nothing is connected to or started before the first question. Raises InvalidInput.
    """
    if settings.memory.consolidation_command:
        from picomem.models.command_generator import CommandGenerator

        if settings.memory.consolidation_model:
            raise InvalidInput(
                "memory.consolidation_command and memory.consolidation_model are both set; set the one that is to "
                "consolidate."
            )
        return CommandGenerator(settings.memory.consolidation_command, settings.memory.consolidation_command_secs)
    if not settings.memory.consolidation_model:
        from picomem.models.generator import ExtractiveGenerator

        return ExtractiveGenerator()
    from picomem.models.provider import consolidation_choice, model_of

    choice = consolidation_choice(settings)
    model = model_of(choice)  # which says so where the extra is missing that the generator needs
    from picomem.models.language_model_generator import LanguageModelGenerator

    return LanguageModelGenerator(model, choice)
