"""A sentence model that fits a test, and a server that gives its vectors: real parts, small.

Words that mean the same have the same vector, so what is found by it alone is found by meaning.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests import loopback
from tests.loopback import answer
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from picomem.settings import Settings
from picomem.settings_tables import EmbedderSettings, RecallSettings

DIMENSIONS = 128
MEANINGS = {"automobile": "car", "vehicle": "car", "crimson": "red", "feline": "cat", "kitten": "cat"}
WORDS = "[PAD] [UNK] [CLS] [SEP] question car automobile vehicle red crimson cat feline kitten the is blue milk".split()


def meaning(word: str) -> np.ndarray:
    """The vector of a word."""
    seed = int.from_bytes(hashlib.sha256(MEANINGS.get(word, word).encode()).digest()[:4])
    return np.random.default_rng(seed).standard_normal(DIMENSIONS).astype(np.float32)


def make_model(folder: Path, file: str = "model.onnx", words: Sequence[str] = WORDS, common: float = 0.0) -> Path:
    """A model that looks its tokens' vectors up, as its maker would hand it out. So much more that all texts have in
    `common` brings all cosines closer to 1."""
    shared = common * np.ones(DIMENSIONS, np.float32)
    weights = np.stack([shared + (0 if word.startswith("[") else meaning(word)) for word in words])
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    made = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", DIMENSIONS])
    graph = helper.make_graph(
        [helper.make_node("Gather", ["weights", "input_ids"], ["last_hidden_state"])],
        "words",
        given,
        [made],
        [numpy_helper.from_array(weights.astype(np.float32), "weights")],
    )
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "1_Pooling").mkdir(exist_ok=True)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The folder of a model."""
    return make_model(tmp_path / "tiny-model")


@pytest.fixture
def chosen() -> Callable[..., Settings]:
    """Settings with an embedder: `chosen("endpoint:tiny", base_url=…)`."""

    def _chosen(embedder: str, **details: Any) -> Settings:
        return Settings(recall=RecallSettings(embedder=embedder, timezone="UTC"), embedder=EmbedderSettings(**details))

    return _chosen


@dataclass
class Server(loopback.Server):
    """An embedding server on this machine. `behave` answers a request in its own way: (handler, texts) → None, or
    anything true to have it answered as usual. `texts` were asked for, in order."""

    behave: Callable[[BaseHTTPRequestHandler, list[str]], Any] | None = None
    texts: list[str] = field(default_factory=list)


def vector(text: str) -> list[float]:
    """The mean of a text's words."""
    return np.mean(
        [meaning(word) for word in re.findall(r"\w+", text.casefold())] or [np.zeros(DIMENSIONS)], 0
    ).tolist()


@pytest.fixture
def server() -> Iterator[Server]:
    """A running server, with what it was asked."""
    state = Server()

    def respond(handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        with state.lock:
            state.texts += request["input"]
        if state.behave is not None and not state.behave(handler, request["input"]):
            return
        data = [{"index": n, "embedding": vector(text)} for n, text in enumerate(request["input"])]
        answer(handler, json.dumps({"object": "list", "data": data[::-1]}).encode())

    with loopback.listening(state, respond):
        yield state
