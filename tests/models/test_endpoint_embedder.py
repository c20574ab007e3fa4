"""A server that speaks OpenAI's protocol for embeddings: a real one on this machine, in good days and bad ones."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import numpy as np
import pytest
from tests.cases import each_case
from tests.engine_parts import missing_vectors
from tests.models.conftest import DIMENSIONS, answer, vector

from picomem.app import open_engine
from picomem.errors import EmbedderFailed, InvalidInput
from picomem.models.embedder import UNRELATED
from picomem.models.endpoint_embedder import EndpointEmbedder, vectors_of
from picomem.settings_tables import EmbedderSettings

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]


def talk(folder: Path, *turns: str) -> Path:
    """A transcript of these turns."""
    path = folder / "talk.jsonl"
    lines = [{"role": "user", "content": turn, "id": str(n)} for n, turn in enumerate(turns)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


TURNS = (
    "Is the automobile crimson?",
    "Does the kitten drink milk?",
    "Has nobody seen the blue one since?",
)


@pytest.mark.requirement("O4")
def test_it_finds_what_was_said_in_other_words(server, db, chosen, tmp_path) -> None:
    with open_engine(db, settings=chosen("endpoint:tiny", base_url=server.url)) as memory:
        report = memory.ingest([talk(tmp_path, *TURNS)])
        assert (report.episodes, report.without_vector, report.problems) == (3, 0, [])
        assert memory.recall("red car?").hits[0].text == TURNS[0]
    assert {request["model"] for request in server.requests} == {"tiny"}
    assert memory.embedder_name == "endpoint-tiny"


def test_what_is_sent_has_no_secrets_in_it_and_the_key_is_in_no_output(server, db, chosen, tmp_path) -> None:
    settings = chosen("endpoint:tiny", base_url=server.url, key="key-of-the-server")
    with open_engine(db, settings=settings) as memory:
        memory.ingest([talk(tmp_path, f"The token of the car is {TOKEN}, keep it safe.")])
        memory.remember(f"The cat feeder asks the server for milk with the token {TOKEN}", key="token")
        memory.recall(f"what was {TOKEN} for?")
    sent = json.dumps(server.requests)
    assert len([text for text in server.texts if text not in UNRELATED]) == 3
    assert TOKEN not in sent
    assert sent.count("[redacted:") == 3
    assert {headers["authorization"] for headers in server.headers} == {"Bearer key-of-the-server"}
    assert "key-of-the-server" not in repr(settings)

    def repeats_the_key(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
        answer(handler, json.dumps({"error": {"message": "Bad key: key-of-the-server"}}).encode(), 401)

    server.behave = repeats_the_key
    with open_engine(db, settings=settings) as memory:
        leg = memory.recall("the cat's token").legs["memories by vector"]
    assert "401 (Bad key: …); is embedder.key right?" in leg


def test_prefixes_and_dimensions_are_passed_on(server, chosen) -> None:
    settings = EmbedderSettings(
        base_url=f"{server.url}/", query_prefix="ask: ", text_prefix="find: ", dimensions=DIMENSIONS
    )
    embedder = EndpointEmbedder("tiny", settings)
    embedder.embed(["car"])
    embedder.embed_question("cat")
    assert server.texts == ["find: car", "ask: cat"]
    assert [request["dimensions"] for request in server.requests] == [DIMENSIONS, DIMENSIONS]
    assert embedder.name != EndpointEmbedder("tiny", EmbedderSettings(base_url=server.url)).name


def stuck(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.connection.recv(1)  # until the other side gives up


def test_a_server_too_slow_for_a_batch_is_asked_for_in_halves(server) -> None:
    def slow(handler: BaseHTTPRequestHandler, texts: list[str]) -> bool:
        if len(texts) > 2:
            stuck(handler, texts)
        return len(texts) <= 2

    server.behave = slow
    embedder = EndpointEmbedder("tiny", EmbedderSettings(base_url=server.url, timeout_secs=1))
    assert embedder.embed(["car", "cat", "red", "blue"]).shape == (4, DIMENSIONS)
    assert [len(request["input"]) for request in server.requests] == [4, 2, 2]


def trickling(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" ")
            threading.Event().wait(0.05)
    except OSError:
        pass


def cut(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')


def another_length(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    data = [{"index": n, "embedding": [0.5] * 7} for n, _ in enumerate(texts)]
    answer(handler, json.dumps({"data": data}).encode())


def fewer(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    answer(handler, json.dumps({"data": []}).encode())


def elsewhere(handler: BaseHTTPRequestHandler, texts: list[str]) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://192.0.2.1/embeddings")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


BAD_DAYS = {
    "stuck": (stuck, "did not answer within 1 seconds"),
    "trickling": (trickling, "did not answer within 1 seconds"),
    "500": (lambda handler, _: answer(handler, b"", 500), "answered 500"),
    "overloaded": (lambda handler, _: answer(handler, b'{"error": "busy"}', 429), "answered 429 (busy)"),
    "empty": (lambda handler, _: answer(handler, b""), "no list of vectors"),
    "rubbish": (lambda handler, _: answer(handler, b"<p>" + b"x" * 100_000), "no list of vectors"),
    "cut": (cut, "no list of vectors"),
    "another length": (another_length, "dimensions"),
    "fewer": (fewer, "no list of vectors"),
    "elsewhere": (elsewhere, "answered 302"),
    "refusing": (lambda handler, _: answer(handler, b'{"error": "no such model"}', 400), "no such model"),
    "unknown": (lambda handler, _: answer(handler, b'{"error": "no such model"}', 404), "no such model"),
}


@pytest.mark.requirement("O12")
@pytest.mark.parametrize("day", BAD_DAYS)
def test_a_bad_day_of_the_server_costs_a_leg_and_no_episode(server, db, chosen, tmp_path, day) -> None:
    settings = chosen("endpoint:tiny", base_url=server.url, timeout_secs=1)
    with open_engine(db, settings=settings) as memory:
        memory.remember("The automobile is crimson", key="paint")
    behave, said = BAD_DAYS[day]
    server.behave = behave
    with open_engine(db, settings=settings) as memory:
        report = memory.ingest([talk(tmp_path, *TURNS)])
        assert (report.episodes, report.without_vector) == (3, 3)
        assert said in report.problems[0]
        assert "`picomem embed`" in report.problems[0]
        recalled = memory.recall("which automobile is crimson?")
        assert {hit.source for hit in recalled.hits} == {"memory", "episode"}
        assert said in recalled.legs["memories by vector"]
        assert memory.remember("The cat is blue", key="pet").memory is not None
        assert missing_vectors(memory) == 4
    server.behave = None
    with open_engine(db, settings=settings) as memory:
        assert "partial: 1 of 2" in memory.recall("feline").legs["memories by vector"]
        assert memory.embed().made == 4
        recalled = memory.recall("feline")
        assert [hit.text for hit in recalled.hits][:1] == ["The cat is blue"]
        assert not any("partial" in leg for leg in recalled.legs.values())


def test_a_server_that_is_not_there_is_asked_once_and_then_left_alone(server, db, chosen) -> None:
    with open_engine(db, settings=chosen("endpoint:tiny", base_url=server.url)) as memory:
        memory.remember("The automobile is crimson", key="paint")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with open_engine(db, settings=chosen("endpoint:tiny", base_url=nowhere)) as memory:
            first = memory.recall("the automobile").legs["memories by vector"]
            again = memory.recall("the automobile")
    assert "cannot be reached" in first
    assert "asked again in half a minute" in again.legs["memories by vector"]
    assert again.hits[0].key == "paint"


def test_a_proxy_is_used_for_other_machines_and_not_for_this_one(server, monkeypatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    elsewhere = EmbedderSettings(base_url="http://embeddings.invalid/v1", timeout_secs=5)
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
    assert EndpointEmbedder("tiny", elsewhere).embed_question("car").shape == (DIMENSIONS,)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    assert EndpointEmbedder("tiny", EmbedderSettings(base_url=server.url)).embed_question("car").shape == (DIMENSIONS,)
    assert server.texts == ["car", "car"]


def test_a_proxy_of_an_unknown_kind_is_one_sentence(monkeypatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://proxy.invalid:1")
    embedder = EndpointEmbedder("tiny", EmbedderSettings(base_url="http://embeddings.invalid/v1"))
    with pytest.raises(EmbedderFailed, match="cannot be reached"):
        embedder.embed_question("car")


def test_an_error_that_passes_is_met_by_trying_again(server) -> None:
    calls = []

    def recovering(handler: BaseHTTPRequestHandler, texts: list[str]) -> bool:
        calls.append(texts)
        if len(calls) == 1:
            answer(handler, b"", 503)
        return len(calls) > 1

    server.behave = recovering
    assert EndpointEmbedder("tiny", EmbedderSettings(base_url=server.url)).embed(["car"]).shape == (1, DIMENSIONS)


def test_a_text_that_is_too_long_for_the_model_is_found_by_its_beginning(server) -> None:
    def limited(handler: BaseHTTPRequestHandler, texts: list[str]) -> bool:
        if fits := max(map(len, texts)) <= 500:
            return fits
        answer(handler, b'{"error": {"message": "This model reads 128 tokens."}}', 400)
        return False

    server.behave = limited
    rows = EndpointEmbedder("tiny", EmbedderSettings(base_url=server.url)).embed(["cat", "car " * 400, "red"])
    assert np.allclose(
        rows @ rows.T,
        [[np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for a in v] for b in v]
        if (v := [vector("cat"), vector("car"), vector("red")])
        else [],
        atol=1e-5,
    )


def test_vectors_of_another_length_are_made_anew_only_when_asked_for(server, db, chosen, tmp_path) -> None:
    settings = chosen("endpoint:tiny", base_url=server.url)
    with open_engine(db, settings=settings) as memory:
        memory.ingest([talk(tmp_path, *TURNS)])
    server.behave = another_length
    with open_engine(db, settings=settings) as memory:
        memory.remember("The car is red", key="paint")
        recalled = memory.recall("the kitten drinks milk")
        assert f"those stored have {DIMENSIONS}; `picomem embed --afresh`" in recalled.legs["episodes by vector"]
        assert TURNS[1] in [hit.text for hit in recalled.hits]  # by its words
        with pytest.raises(EmbedderFailed, match="--afresh"):
            memory.embed()
        assert memory.embed(afresh=True).made == 4
        assert memory.recall("the kitten drinks milk").legs["episodes by vector"] == "3"


def test_an_answer_in_base64_is_read_too() -> None:
    packed = base64.b64encode(struct.pack("<3f", 1, 2, 3)).decode()
    rows = vectors_of(json.dumps({"data": [{"embedding": packed}]}).encode(), 1)
    assert rows is not None and rows.tolist() == [[1, 2, 3]]


@each_case(
    "body",
    ["", "null", "[]", "{}", '{"data": null}', '{"data": [1]}', '{"data": [{}]}', '{"data": [{"embedding": []}]}',
     '{"data": [{"embedding": ["a"]}]}', '{"data": [{"embedding": [NaN]}]}', '{"data": [{"embedding": [[1]]}]}',
     '{"data": [{"embedding": "!"}]}', '{"data": [{"embedding": "AAA="}]}', '{"data": [{"embedding": null}]}',
     '{"data": [{"embedding": {"a": 1}}]}', "[" * 100_000],
)  # fmt: skip
def test_anything_else_is_no_answer(body) -> None:
    assert vectors_of(body.encode(), 1) is None


@each_case(
    "url", ["", "localhost:11434", "file:///etc/passwd", "http://", "http://user:secret@host/v1", "http://h/v1?key=secret",
            "http://host:port/v1", "http://a b/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_repeating_it(url) -> None:
    with pytest.raises(InvalidInput, match="is no address") as refused:
        EndpointEmbedder("tiny", EmbedderSettings(base_url=url))
    assert "secret" not in str(refused.value)


def test_a_key_that_cannot_be_one_is_refused_without_repeating_it(server) -> None:
    with pytest.raises(InvalidInput, match=r"embedder\.key") as refused:
        EndpointEmbedder("tiny", EmbedderSettings(base_url=server.url, key="se\ncret"))
    assert "cret" not in str(refused.value)
