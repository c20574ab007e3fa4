"""Opens models of pydantic-ai by provider, for consolidation and for the chat; nothing else does.

pydantic-ai and the providers' clients are loaded when a model is opened, and nothing connects before the model is
asked. A key goes only to the provider for which it was set: a server of the user's own never gets the OpenAI key of the
environment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.coded_text import CodedText
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, fields
from picomem.settings import Settings, checked_url

if TYPE_CHECKING:
    from pydantic_ai.models import Model

LOCAL = {
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
    "vllm": "http://localhost:8000/v1",
}
PROVIDERS = ("openai", "anthropic", "google", "openrouter", *LOCAL, "openai-compatible")
_NO_KEY = "none"  # the clients want a key even where the server wants none


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model as the settings name it; `table` is where they do, and `timeout_setting` what sets `timeout_secs`, for
    what goes wrong."""

    provider: str
    model: str
    base_url: str
    key: str
    timeout_secs: int
    table: str
    timeout_setting: str = "model.timeout_secs"

    @property
    def is_own_server(self) -> bool:
        """Whether it is a server that somebody runs for themselves, and no provider's."""
        return self.provider in (*LOCAL, "openai-compatible")

    def __repr__(self) -> str:
        shown = (f"{key.name}={getattr(self, key.name)!r}" for key in fields(self) if key.name != "key")
        return f"ModelChoice({', '.join(shown)})"


def chat_choice(settings: Settings) -> ModelChoice:
    """The model that PicoBot talks with. Raises InvalidInput where none is set."""
    chosen = settings.model
    if not (chosen.provider and chosen.model):
        raise InvalidInput(CodedText("warning.no_model"))
    return ModelChoice(
        provider=chosen.provider,
        model=chosen.model,
        base_url=chosen.base_url,
        key=chosen.key,
        timeout_secs=chosen.timeout_secs,
        table="model",
    )


def consolidation_choice(settings: Settings) -> ModelChoice:
    """The model that consolidates; address and key are those of [model] where it is the same provider's."""
    chosen = settings.memory
    provider = chosen.consolidation_provider or settings.model.provider
    if not provider:
        raise InvalidInput("memory.consolidation_model is set, and memory.consolidation_provider is not; set both.")
    shared = provider == settings.model.provider
    return ModelChoice(
        provider=provider,
        model=chosen.consolidation_model,
        base_url=chosen.consolidation_base_url or (settings.model.base_url if shared else ""),
        # A key belongs to an address: another address is another server.
        key=chosen.consolidation_key
        or (settings.model.key if shared and chosen.consolidation_base_url in ("", settings.model.base_url) else ""),
        timeout_secs=chosen.consolidation_model_secs,
        table="memory",
        timeout_setting="memory.consolidation_model_secs",
    )


def open_chat_model(settings: Settings) -> Model:
    """The model that PicoBot talks with, as [model] says. Nothing is connected to. Raises InvalidInput."""
    return model_of(chat_choice(settings))


def model_of(choice: ModelChoice) -> Model:
    """The model. Raises InvalidInput for an unknown provider, a bad address, or a key that is missing."""
    if choice.provider not in PROVIDERS:
        raise InvalidInput(
            f"“{choice.provider[:40]}” in [{choice.table}] is no provider; it is {', '.join(PROVIDERS)}."
        )
    if not choice.key.isascii() or not choice.key.isprintable():
        raise InvalidInput(
            f"The key in [{choice.table}] holds a character that no key has; was it cut or pasted badly?"
        )
    url = checked_url(choice.base_url, f"The address in [{choice.table}]") if choice.base_url else ""
    if choice.provider == "openai-compatible" and not url:
        raise InvalidInput(f"openai-compatible in [{choice.table}] needs a base_url: where the server is.")
    try:
        from pydantic_ai.exceptions import UserError
    except ModuleNotFoundError:
        raise InvalidInput("Models need the extra `agent`: install picomem[agent], such as with pip.") from None
    try:
        return _made(choice, url)
    except (UserError, ValueError) as error:
        said = str(error).partition(". ")[0].rstrip(".")
        if not choice.key and "key" in said.lower():
            said = "no API key is set, neither in the settings nor in the provider's usual variable"
        raise InvalidInput(f"{choice.provider} in [{choice.table}] cannot be used: {said[:200]}.") from error


def _made(choice: ModelChoice, url: str) -> Model:
    if choice.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        key = choice.key or (_NO_KEY if url else None)
        return AnthropicModel(choice.model, provider=AnthropicProvider(api_key=key, base_url=url or None))
    if choice.provider == "google":
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider

        key = choice.key or (_NO_KEY if url else None)
        return GoogleModel(choice.model, provider=GoogleProvider(api_key=key, base_url=url or None))
    if choice.provider == "openrouter":
        from pydantic_ai.models.openrouter import OpenRouterModel
        from pydantic_ai.providers.openrouter import OpenRouterProvider

        if url:
            raise InvalidInput(f"openrouter in [{choice.table}] has one address; take openai-compatible for another.")
        return OpenRouterModel(choice.model, provider=OpenRouterProvider(api_key=choice.key or None))
    return _speaking_openai(choice, url)


def _speaking_openai(choice: ModelChoice, url: str) -> Model:
    """A model behind a server that speaks OpenAI's chat protocol."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    if choice.provider == "openai":
        from pydantic_ai.providers.openai import OpenAIProvider

        key = choice.key or (_NO_KEY if url else None)
        return OpenAIChatModel(choice.model, provider=OpenAIProvider(base_url=url or None, api_key=key))
    # Not every server knows the newer name of max_tokens, and one that does not would write without end; and templates
    # of open models know one system message, some refuse a second.
    profile = OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens=False, openai_chat_supports_multiple_system_messages=False
    )
    url, key = url or LOCAL[choice.provider], choice.key or _NO_KEY
    if choice.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaModel(choice.model, provider=OllamaProvider(base_url=url, api_key=key), profile=profile)
    if choice.provider == "vllm":
        from pydantic_ai.providers.vllm import VLLMProvider

        return OpenAIChatModel(choice.model, provider=VLLMProvider(base_url=url, api_key=key), profile=profile)
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider(choice.provider, base_url=url, api_key=key)
    return OpenAIChatModel(choice.model, provider=provider, profile=profile)
