"""sqlite-vec: an exact scan over vectors of the local model, or (`static` as an argument) of wordllama's static ones.

It is loaded into apsw's SQLite, for Python's own cannot load extensions everywhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

import apsw
import numpy as np
import sqlite_vec  # pyright: ignore[reportMissingImports]
from serving import serve

_BATCH = 32


class SqliteVec:
    def __init__(self, folder: Path, model: Path) -> None:
        self.version = str(sqlite_vec.__version__)
        self._embedder = _Static() if "static" in sys.argv[1:] else _Model(model)
        self._database = apsw.Connection(str(folder / "vectors.db"))
        self._database.enable_load_extension(True)
        self._database.load_extension(sqlite_vec.loadable_path())
        self._database.pragma("journal_mode", "wal")
        self._database.execute(
            "CREATE TABLE texts (id INTEGER PRIMARY KEY, name TEXT, body TEXT);"
            "CREATE VIRTUAL TABLE vectors USING vec0 (embedding "
            f"float[{self._embedder.dimensions}] distance_metric=cosine)"
        )

    def add(self, ids: list[str], texts: list[str]) -> None:
        with self._database:
            for begin in range(0, len(ids), _BATCH):
                rows = self._embedder.embed(texts[begin : begin + _BATCH])
                names, bodies = ids[begin : begin + _BATCH], texts[begin : begin + _BATCH]
                for name, body, row in zip(names, bodies, rows, strict=True):
                    self._database.execute("INSERT INTO texts (name, body) VALUES (?, ?)", (name, body))
                    vector = row.astype(np.float32).tobytes()
                    self._database.execute(
                        "INSERT INTO vectors (rowid, embedding) VALUES (?, ?)",
                        (self._database.last_insert_rowid(), vector),
                    )

    def ready(self) -> None:
        pass

    def ask(self, question: str, count: int) -> list[str]:
        asked = self._embedder.embed([question])[0].astype(np.float32).tobytes()
        rows = self._database.execute(
            "SELECT name FROM (SELECT rowid, distance FROM vectors WHERE embedding MATCH ? AND k = ?) AS near "
            "JOIN texts ON texts.id = near.rowid ORDER BY near.distance",
            (asked, count),
        )
        return [row[0] for row in rows]

    def close(self) -> None:
        self._database.close()


class _Static:
    dimensions = 256

    def __init__(self) -> None:
        import wordllama  # noqa: PLC0415 - only one of the models is there

        # Named, because it does not look for the tokenizer where its own wheel puts it.
        here = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(dim=self.dimensions, cache_dir=here, disable_download=True)

    def embed(self, texts: list[str]) -> np.ndarray:
        return np.asarray(self._model.embed(texts, norm=True))


class _Model:
    """The mean over the tokens of a sentence model's output, as Chroma takes it."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime  # noqa: PLC0415 - only one of the models is there
        from tokenizers import Tokenizer  # noqa: PLC0415 - only one of the models is there

        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(256)
        self._tokenizer.enable_padding()
        self.dimensions = len(self.embed(["how many"])[0])

    def embed(self, texts: list[str]) -> np.ndarray:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encoded], np.int64)
        mask = np.array([encoding.attention_mask for encoding in encoded], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        tokens = np.asarray(self._session.run(None, given)[0])
        rows = (tokens * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


if __name__ == "__main__":
    serve(SqliteVec)
