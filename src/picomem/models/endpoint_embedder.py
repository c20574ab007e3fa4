"""An embedder on a server with OpenAI's embeddings protocol: OpenAI, Ollama, LM Studio, vLLM, llama.cpp and others.

    POST {base_url}/embeddings  {"model": …, "input": [text, …], "encoding_format": "float"}
    → {"data": [{"index": 0, "embedding": [number, …]}, …]}

Nothing is sent unless the settings select this embedder, and then only to that address: redirections are not followed,
and no proxy is used for the local machine. The server is not trusted: the size and the time of its answer are limited,
and an answer must hold one vector of the known length for each text. After a failure the server is not asked for a
while, so that repeated calls do not wait each time.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

import httpx2
import numpy as np

from picomem.errors import EmbedderFailed, InvalidInput
from picomem.models.embedder import unit_rows
from picomem.settings import checked_url
from picomem.settings_tables import EmbedderSettings

_BATCH = 64  # texts a request
_SHORT = 400  # characters; a text that is refused and shorter than that is not refused for its length
_LONGEST = 8_000  # characters of a text that are sent: an episode is shorter, and servers refuse what is too long
_TRIES = 3  # for texts that are to be stored; a question, for which somebody waits, is asked once
_PAUSE = 0.5  # seconds before the second try, twice that before the third
_REST = 30.0  # seconds in which a server that failed is not asked again
_MOST_BYTES = 64 << 20  # of an answer
_PIECE = 1 << 16  # bytes of an error that are read
_UNREACHED, _LATE = 0, 1  # in the place of a status, where there was no answer
_REFUSALS = frozenset({400, 413, 422})
_WORTH_REPEATING = frozenset({_UNREACHED, 408, 409, 425, 429, 500, 502, 503, 504})
_LOOPBACK = ("localhost", "127.", "::1")


class EndpointEmbedder:
    """An embedding model behind a server."""

    local = False
    reads_sentences = True

    def __init__(self, model: str, settings: EmbedderSettings) -> None:
        self._url = checked_url(settings.base_url, "embedder.base_url") + "/embeddings"
        if not settings.key.isascii() or not settings.key.isprintable():
            raise InvalidInput("embedder.key holds a character that no key has; was it cut or pasted badly?")
        self._model = model
        self._settings = settings
        # The address is no part of the name: a server that moved gives the same vectors.
        shortened = f"-{settings.dimensions}" if settings.dimensions else ""
        prefix = f" {settings.text_prefix.strip()}" if settings.text_prefix else ""
        self.name = f"endpoint-{model}{shortened}{prefix}"
        self._length = settings.dimensions  # of a vector; learnt from the first answer
        self._rests_until = 0.0
        self._failure = ""
        self._lock = Lock()
        self._client: httpx2.Client | None = None

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 row of length 1 a text, all or none. Raises EmbedderFailed."""
        texts = [self._settings.text_prefix + text for text in texts]
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        return np.concatenate([self._embedded(batch) for batch in batches] or [np.zeros((0, 0), np.float32)])

    def _embedded(self, texts: list[str]) -> np.ndarray:
        """The rows of a batch. A server refuses a whole batch for one text that is too long for its model, and a slow
        server does not finish a batch in time. So such a batch is asked for in halves, and a text that is refused
        alone, by its first half."""
        try:
            return self._answered(texts, _TRIES)
        except EmbedderFailed as error:
            if not error.data or (len(texts) == 1 and len(texts[0]) < _SHORT):
                raise
        half = len(texts) // 2
        if half:
            return np.concatenate([self._embedded(texts[:half]), self._embedded(texts[half:])])
        return self._embedded([texts[0][: len(texts[0]) // 2]])

    def embed_question(self, text: str) -> np.ndarray:
        """The row of a question, with the prefix that the settings give for one."""
        return self._answered([self._settings.query_prefix + text], 1)[0]

    def trust(self, text: str) -> float:  # noqa: ARG002 - the protocol's
        """Return 1 for every text: the languages of a server's model are unknown, and most models know many."""
        return 1.0

    def _answered(self, texts: list[str], tries: int) -> np.ndarray:
        """The rows of one request. Raises EmbedderFailed."""
        with self._lock:
            if time.monotonic() < self._rests_until:
                raise EmbedderFailed(f"{self._failure} (It is asked again in half a minute.)")
        try:
            return self._asked(texts, tries)
        except EmbedderFailed as error:
            if error.data:
                raise  # the server is well; it does not like these texts, or they are too many at once
            with self._lock:
                self._rests_until = time.monotonic() + _REST
                self._failure = str(error)
            raise

    def _asked(self, texts: list[str], tries: int) -> np.ndarray:
        body = {"model": self._model, "input": [text[:_LONGEST] for text in texts], "encoding_format": "float"}
        if self._settings.dimensions:
            body["dimensions"] = self._settings.dimensions
        status, problem, is_too_much = _UNREACHED, "", False
        for attempt in range(tries):
            if attempt:
                time.sleep(_PAUSE * attempt)
            status, answer = self._sent(json.dumps(body).encode())
            if status == 200:
                return self._rows(answer, len(texts))
            problem = self._told(status, answer)
            is_too_much = status == _LATE and len(texts) > 1
            if is_too_much or status not in _WORTH_REPEATING:
                break
        data = {"refused": status} if status in _REFUSALS else {"late": True} if is_too_much else {}
        raise EmbedderFailed(f"The embedding server at {self._url} {problem}.", **data)

    def _sent(self, body: bytes) -> tuple[int, bytes]:
        """The server's status and answer; or _UNREACHED or _LATE, and the reason."""
        deadline = time.monotonic() + self._settings.timeout_secs
        try:
            with self._opened().stream("POST", self._url, content=body) as response:
                most = _MOST_BYTES if response.status_code == 200 else _PIECE
                return response.status_code, _read(response, deadline, most)
        except (httpx2.TimeoutException, TimeoutError):
            return _LATE, f"did not answer within {self._settings.timeout_secs} seconds".encode()
        except (httpx2.HTTPError, httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
            # The last three: a proxy of a kind that the client does not know, certificates that cannot be read.
            return _UNREACHED, f"cannot be reached ({error or type(error).__name__})".encode()

    def _opened(self) -> httpx2.Client:
        """The client, made for the first request. Redirections are not followed: the texts and the key are for one
        address."""
        if self._client is None:
            # Without compression, the size that is limited is the size that is sent.
            headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
            headers["User-Agent"] = "picomem"
            if self._settings.key:
                headers["Authorization"] = f"Bearer {self._settings.key}"
            is_here = httpx2.URL(self._url).host.startswith(_LOOPBACK)
            self._client = httpx2.Client(
                headers=headers,
                timeout=self._settings.timeout_secs,
                follow_redirects=False,
                trust_env=not is_here,  # proxies, and .netrc, are for other machines
            )
        return self._client

    def _rows(self, answer: bytes, count: int) -> np.ndarray:
        """The vectors of an answer, in the order of the texts. Raises EmbedderFailed for anything else."""
        rows = vectors_of(answer, count)
        if rows is None:
            raise EmbedderFailed(f"The embedding server at {self._url} answered something that is no list of vectors.")
        self._length = self._length or rows.shape[1]
        if rows.shape[1] != self._length:
            raise EmbedderFailed(
                f"The embedding server at {self._url} answered vectors of {rows.shape[1]} dimensions, not "
                f"{self._length}; if another model runs there now, call it by another name."
            )
        return unit_rows(rows)

    def _told(self, status: int, answer: bytes) -> str:
        """Describe a failure without the key, which some servers repeat."""
        said = answer[:2_000].decode("utf-8", "replace")
        if status in (_UNREACHED, _LATE):
            return said
        said = _message(said)
        if self._settings.key:
            said = said.replace(self._settings.key, "…")
        hint = "; is embedder.key right?" if status in (401, 403) else ""
        return f"answered {status}{f' ({said[:200]})' if said else ''}{hint}"


def vectors_of(answer: bytes, count: int) -> np.ndarray | None:
    """The `count` vectors of an answer, or None where it holds anything else. Pure."""
    try:
        data = json.loads(answer)["data"]
        if len(data) != count:
            return None
        ordered = sorted(data, key=lambda item: item.get("index", 0))
        rows = np.array([_numbers(item["embedding"]) for item in ordered], np.float32)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None
    return rows if rows.ndim == 2 and rows.shape[1] and np.isfinite(rows).all() else None


def _numbers(embedding: object) -> Any:
    """A vector as a list of numbers; some servers send base64 of float32 whatever they are asked for."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
    return embedding


def _message(said: str) -> str:
    """The sentence in an error's JSON, as OpenAI and Ollama write it; else nothing, for it is a page or rubbish."""
    try:
        error = json.loads(said)["error"]
        return " ".join(str(error["message"] if isinstance(error, dict) else error).split())
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def _read(response: httpx2.Response, deadline: float, most: int) -> bytes:
    """The body; of an error its beginning is enough. Raises TimeoutError where the body trickles, and EmbedderFailed
    for an answer that does not end."""
    body = bytearray()
    # Where the connection is cut, what has arrived is judged like any other answer.
    with suppress(httpx2.RemoteProtocolError, httpx2.ReadError):
        for piece in response.iter_bytes():
            body += piece
            if time.monotonic() > deadline:
                raise TimeoutError
            if len(body) > most and response.status_code == 200:
                raise EmbedderFailed(f"The embedding server answers more than {most >> 20} MB.")
            if len(body) > most:
                break
    return bytes(body)
