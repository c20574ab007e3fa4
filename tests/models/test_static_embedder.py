"""The weights of the default embedder are read from a file of another package, which may change."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from picomem.errors import EmbedderFailed, PicomemError
from picomem.models.static_embedder import StaticEmbedder, read_weights
from picomem.text.tokens import WORDLLAMA, read_tokenizer

SHAPE = (32_000, 256)
SIZE = SHAPE[0] * SHAPE[1] * 2


def weights_file(folder: Path, header: object, size: int = SIZE) -> Path:
    """A safetensors file with this header and so many bytes behind it."""
    path = folder / "weights.safetensors"
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + size)
    return path


def tensor(**changes: object) -> dict[str, object]:
    return {"embedding.weight": {"dtype": "F16", "shape": SHAPE, "data_offsets": [0, SIZE], **changes}}


def test_weights_of_the_expected_form_are_read(tmp_path: Path) -> None:
    read = read_weights(weights_file(tmp_path, tensor()))
    assert (read.shape, read.dtype) == (SHAPE, np.float16)


@pytest.mark.parametrize(
    ("header", "size"),
    [
        ({}, SIZE),
        ([], SIZE),
        ({"embedding.weight": {}}, SIZE),
        ({"embeddings": tensor()["embedding.weight"]}, SIZE),
        (tensor(dtype="BF16"), SIZE),
        (tensor(shape=[128_000, 256]), SIZE),
        (tensor(data_offsets=[0]), SIZE),
        (tensor(data_offsets=["0", "1"]), SIZE),
        (tensor(), SIZE - 1),
    ],
)
def test_weights_of_another_form_are_refused_with_the_version_to_install(header, size, tmp_path: Path) -> None:
    with pytest.raises(EmbedderFailed, match=f"not what picomem expects.*{re.escape(WORDLLAMA)}"):
        read_weights(weights_file(tmp_path, header, size))


@pytest.mark.parametrize("content", [None, b"", b"\xff" * 8, b"\xff" * 100, struct.pack("<Q", 3) + b"{{{"])
def test_a_file_that_holds_no_weights_is_refused_likewise(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EmbedderFailed, match=f"not what picomem expects.*{re.escape(WORDLLAMA)}"):
        read_weights(path)


VOCABULARY = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}


@pytest.mark.parametrize("content", [None, json.dumps(VOCABULARY)])
def test_a_tokenizer_that_is_missing_or_another_one_is_refused_likewise(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(PicomemError, match=f"not what picomem expects.*{re.escape(WORDLLAMA)}"):
        read_tokenizer(path)


def test_texts_get_the_vectors_that_they_get_alone_and_one_without_a_token_gets_zeros() -> None:
    texts = ["We use Postgres.", "", "Postgres, and Postgres again: Postgres.", "我们用 Postgres"]
    together = StaticEmbedder().embed(texts)
    assert np.array_equal(together, np.concatenate([StaticEmbedder().embed([text]) for text in texts]))
    assert np.linalg.norm(together, axis=1) == pytest.approx([1, 0, 1, 1], abs=1e-6)
    assert StaticEmbedder().embed([]).shape == (0, 256)
