"""A sentence model in a folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine_parts import missing_vectors
from tests.models.conftest import DIMENSIONS, WORDS, make_model, meaning

from picomem.app import open_engine
from picomem.errors import EmbedderFailed, InvalidInput
from picomem.models.embedder import UNRELATED
from picomem.models.onnx_embedder import OnnxEmbedder, batches, family_of, pooled, recipe_of
from picomem.operations.recalling import RecallRequest, recall
from picomem.operations.table import operation
from picomem.settings_tables import EmbedderSettings

PLAIN = EmbedderSettings()


def test_it_finds_what_was_said_in_other_words(model, db, chosen) -> None:
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        memory.remember("The automobile is crimson", key="paint")
        memory.remember("The kitten is blue", key="pet")
        answer = memory.recall("car red?")
        assert answer.hits[0].key == "paint"
        assert "near in meaning" in answer.hits[0].why
        assert memory.embedder_name.startswith("onnx-tiny-model-")


def test_a_text_has_the_same_vector_in_any_company(model) -> None:
    embedder = OnnxEmbedder(recipe_of(model, PLAIN))
    texts = [" ".join(["the car is red and blue"] * (n % 7 + 1)) for n in range(40)] + [""]
    rows = embedder.embed(texts)
    assert rows.shape == (41, DIMENSIONS)
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    assert np.allclose(rows, alone, atol=1e-6)
    assert np.allclose(np.linalg.norm(rows[:40], axis=1), 1, atol=1e-6)


def test_the_folder_says_how_a_text_becomes_one_vector(model) -> None:
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (model / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 7}))
    (model / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "question "}}))
    recipe = recipe_of(model, PLAIN)
    assert (recipe.pooling, recipe.max_tokens, recipe.query_prefix) == ("cls", 7, "question ")
    set_here = recipe_of(model, EmbedderSettings(pooling="mean", query_prefix="the ", max_tokens=5))
    assert (set_here.pooling, set_here.max_tokens, set_here.query_prefix) == ("mean", 5, "the ")
    assert recipe.name != set_here.name


def test_only_a_question_gets_the_prefix_of_questions(model) -> None:
    embedder = OnnxEmbedder(recipe_of(model, EmbedderSettings(query_prefix="question ")))
    asked = embedder.embed_question("car") @ embedder.embed(["question car"])[0]
    assert asked == pytest.approx(1, abs=1e-5)
    assert embedder.embed_question("car") @ embedder.embed(["car"])[0] < 0.95


def test_what_is_longer_than_the_model_reads_is_cut(model) -> None:
    embedder = OnnxEmbedder(recipe_of(model, EmbedderSettings(max_tokens=5)))
    short, long = embedder.embed(["car red cat", "car red cat " + "milk " * 5_000])
    assert short @ long == pytest.approx(1, abs=1e-5)


def test_pooling_takes_the_first_the_last_or_the_mean_of_a_texts_own_tokens() -> None:
    output = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    mask = np.array([[1, 1, 1], [1, 1, 0]])
    assert pooled(output, mask, "cls").tolist() == [[0, 1], [6, 7]]
    assert pooled(output, mask, "last").tolist() == [[4, 5], [8, 9]]
    assert pooled(output, mask, "mean").tolist() == [[2, 3], [7, 8]]
    assert pooled(output[:, 0], mask, "mean").tolist() == [[0, 1], [6, 7]]


@given(st.lists(st.integers(1, 90)), st.integers(1, 200))
def test_a_batch_has_texts_of_like_length_and_few_tokens(lengths, together) -> None:
    batched = list(batches(lengths, together))
    assert [lengths[i] for batch in batched for i in batch] == sorted(lengths)
    assert sorted(i for batch in batched for i in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= together for batch in batched)


def test_a_pooling_that_nobody_says_is_asked_for_and_not_guessed(model, db, chosen) -> None:
    (model / "1_Pooling" / "config.json").unlink()
    with pytest.raises(InvalidInput, match=r"does not say how .* set embedder\.pooling .* cls, mean or last"):
        open_engine(db, settings=chosen(f"onnx:{model}"))
    with open_engine(db, settings=chosen(f"onnx:{model}", pooling="mean")) as memory:
        memory.remember("The automobile is crimson", key="paint")
        assert memory.recall("car red?").hits[0].key == "paint"


@pytest.mark.parametrize(
    ("place", "pooling", "query_prefix", "text_prefix"),
    [
        ("snowflake-arctic-embed-s", "cls", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed-m-v2.0", "cls", "query: ", ""),
        ("models--BAAI--bge-small-en-v1.5/snapshots/5c38ec7c", "cls", "Represent this sentence", ""),
        ("bge-m3", "cls", "", ""),
        ("Multilingual-E5-small_onnx_int8", "mean", "query: ", "passage: "),
        ("nomic-embed-text-v1.5-q", "mean", "search_query: ", "search_document: "),
        ("all-MiniLM-L6-v2", "mean", "", ""),
    ],
)
def test_a_well_known_model_is_known_by_its_name(tmp_path, place, pooling, query_prefix, text_prefix) -> None:
    folder = make_model(tmp_path / place)
    (folder / "1_Pooling" / "config.json").unlink()
    recipe = recipe_of(folder, PLAIN)
    assert recipe.pooling == pooling
    assert recipe.query_prefix.startswith(query_prefix)
    assert bool(recipe.query_prefix) == bool(query_prefix)
    assert recipe.text_prefix == text_prefix
    said = recipe_of(folder, EmbedderSettings(pooling="last", query_prefix="ask ", text_prefix="told "))
    assert (said.pooling, said.query_prefix, said.text_prefix) == ("last", "ask ", "told ")
    assert not family_of([f"{place.partition('/')[0]}-of-mine"], {}).pooling


def test_arctic_embed_is_known_under_any_name_by_how_it_is_loaded(model) -> None:
    (model / "1_Pooling" / "config.json").unlink()
    (model / "sentence_bert_config.json").write_text(json.dumps({"model_args": {"add_pooling_layer": False}}))
    recipe = recipe_of(model, EmbedderSettings())
    assert recipe.pooling == "cls"
    assert recipe.query_prefix.startswith("Represent this sentence")
    (model / "sentence_bert_config.json").write_text(json.dumps({"model_args": {"add_pooling_layer": True}}))
    with pytest.raises(InvalidInput, match="does not say"):
        recipe_of(model, EmbedderSettings())


@pytest.mark.parametrize("file", ["onnx/model.onnx", "onnx/model_quantized.onnx", "model_int8.onnx"])
def test_a_quantised_variant_or_a_file_below_is_found(tmp_path, file) -> None:
    folder = make_model(tmp_path / "other", file)
    assert recipe_of(folder, PLAIN).model == folder / file
    assert recipe_of(folder / file, PLAIN).tokenizer == folder / "tokenizer.json"
    row = OnnxEmbedder(recipe_of(folder, PLAIN)).embed(["car"])[0]
    assert row @ meaning("vehicle") / np.linalg.norm(meaning("vehicle")) == pytest.approx(1, abs=1e-5)


def test_another_file_in_the_folder_is_another_model(tmp_path) -> None:
    folder = make_model(tmp_path / "one")
    before = recipe_of(folder, PLAIN).name
    (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes() + b"\0")
    assert recipe_of(folder, PLAIN).name != before


@pytest.mark.requirement("O12")
def test_where_the_folder_is_away_words_answer_and_what_is_stored_waits(model, db, chosen) -> None:
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        memory.remember("The automobile is crimson", key="paint")
    away = model.rename(model.with_name("away"))
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        assert memory.remember("The boat is called Swift", key="boat").memory is not None
        answer = memory.recall("what is the boat called?")
        assert answer.hits[0].key == "boat"
        assert answer.legs["memories by vector"].startswith("failed: There is no folder")
        assert "There is no folder" in memory.status().embedder_trouble
        with pytest.raises(EmbedderFailed, match="There is no folder"):
            memory.embed()
    away.rename(model)
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        assert memory.embed().made == 1
        assert memory.recall("car red?").hits[0].key == "paint"


def test_what_is_wrong_with_a_folder_is_said_in_a_sentence(model, tmp_path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no model\.onnx"):
        recipe_of(tmp_path, PLAIN)
    (model / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Dense"}]))
    with pytest.raises(InvalidInput, match="a Dense step"):
        recipe_of(model, PLAIN)
    (model / "modules.json").write_text("no json")
    with pytest.raises(InvalidInput, match="cannot be read"):
        recipe_of(model, PLAIN)
    (model / "modules.json").unlink()
    with pytest.raises(InvalidInput, match="one of cls, mean, last"):
        OnnxEmbedder(recipe_of(model, EmbedderSettings(pooling="max")))
    (model / "tokenizer.json").unlink()
    with pytest.raises(InvalidInput, match=r"no tokenizer\.json"):
        recipe_of(model, PLAIN)


@pytest.mark.requirement("O12")
@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_model_that_cannot_be_loaded_costs_a_leg_and_no_memory(model, db, chosen, broken) -> None:
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        memory.remember("The car is red", key="paint")
    digest = (model / broken).read_bytes()
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        (model / broken).write_bytes(b"rubbish")
        memory.remember("The cat is blue", key="pet")
        answer = memory.recall("which colour is the car?")
        assert answer.hits[0].key == "paint"
        assert answer.legs["memories by vector"].startswith("failed: ")
        assert missing_vectors(memory) == 1
    (model / broken).write_bytes(digest)
    with open_engine(db, settings=chosen(f"onnx:{model}")) as memory:
        assert memory.embed().made == 1
        assert memory.recall("feline?").hits[0].key == "pet"


def test_a_model_that_was_not_made_for_chinese_is_not_trusted_with_it(model) -> None:
    embedder = OnnxEmbedder(recipe_of(model, PLAIN))
    assert embedder.trust("which colour is the car?") == 1
    assert embedder.trust("汽车是什么颜色") < 0.5


@pytest.mark.parametrize(
    ("chosen", "package"), [("onnx:{model}", "onnxruntime"), ("fastembed:BAAI/bge-small-en-v1.5", "fastembed")]
)
def test_a_missing_extra_says_what_to_install(model, db, chosen, package) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from picomem.cli.main import main; sys.exit(main(['--db', sys.argv[1], 'remember', 'The car is red']))"
    )
    env = {**os.environ, "PICOMEM_RECALL_EMBEDDER": chosen.format(model=model), "PICOMEM_DATA_DIR": str(db.parent)}
    done = subprocess.run([sys.executable, "-c", program, str(db)], env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"needs {package}; install it with: pip install 'picomem[" in done.stderr


@pytest.mark.parametrize("name", ["onnx", "onnx:", "endpoint:", "openai:gpt", "statik"])
def test_an_unknown_embedder_is_refused_with_those_that_there_are(db, chosen, name) -> None:
    with pytest.raises(InvalidInput, match=r"static, none, onnx:FOLDER|missing behind the colon"):
        open_engine(db, settings=chosen(name))


LIFE = (
    "the port of the staging server is seven", "green tea in the morning", "a deploy on friday is never fine",
    "the choir sings in the old church", "the bicycle has a flat tyre", "paper cups go into the blue bin",
)  # fmt: skip
ASKED = ("staging server port", "tea morning", "hockey champion lisbon")


@pytest.mark.requirement("O4")
@pytest.mark.parametrize("stored", [1, len(LIFE)])
def test_models_of_which_one_has_all_cosines_near_to_one_are_as_sure_of_the_same(tmp_path, chosen, stored) -> None:
    words = [*WORDS, *dict.fromkeys(re.findall(r"\w+", " ".join((*UNRELATED, *LIFE, *ASKED))))]
    answers = {}
    for name, common in (("wide", 0.0), ("narrow", 1.6)):
        folder = make_model(tmp_path / name, words=list(dict.fromkeys(words)), common=common)
        rows = OnnxEmbedder(recipe_of(folder, PLAIN)).embed(LIFE)
        cosines = (rows @ rows.T)[np.triu_indices(len(LIFE), 1)]
        assert (cosines.min() > 0.6) == bool(common)
        with open_engine(tmp_path / f"{name}.db", settings=chosen(f"onnx:{folder}")) as memory:
            for text in LIFE[:stored]:
                assert memory.remember(text).memory
            answers[name] = [memory.recall(question) for question in ASKED]
            reply = operation("recall").reply(recall(memory, RecallRequest(query=ASKED[2])))
            assert reply.startswith("No matching memories found.")
    for wide, narrow in zip(*answers.values(), strict=True):
        assert [hit.text for hit in wide.hits][:1] == [hit.text for hit in narrow.hits][:1]
        assert wide.confidence == pytest.approx(narrow.confidence, abs=0.1)
