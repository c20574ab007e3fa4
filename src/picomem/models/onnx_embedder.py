"""A sentence model in a folder: an ONNX file and its tokenizer, run by onnxruntime on the processor.

The folder has the layout of sentence-transformers and of the publishers of such models:

    model.onnx, or onnx/model.onnx, or a quantised variant       (onnx:/FOLDER/FILE.onnx names one)
    tokenizer.json
    1_Pooling/config.json, sentence_bert_config.json, config_sentence_transformers.json, modules.json     (if there)

Pooling, the maximum length and the prefixes are read from these files; the table `[embedder]` overrides them. For
some models, `known_embedder` supplies missing values by the model's name. Pooling is never guessed, because a model
with the wrong pooling finds much less and nothing else shows it: if it is unknown, an error asks for it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer

from picomem.errors import EmbedderFailed, InvalidInput
from picomem.light_dataclass import dataclass
from picomem.models.embedder import unit_rows
from picomem.paths import is_folder, is_regular, named_path, open_regular, read_regular
from picomem.settings_tables import EmbedderSettings
from picomem.text.terms import is_cjk

if TYPE_CHECKING:
    import onnxruntime


# The pooling and the prefixes of well-known sentence models, by the name of the model.
#
# Many model folders, above all those converted to ONNX, leave out the files that describe the pooling and the prefix of
# a question. The network shows neither, and with wrong values it still returns vectors, which find only a part of what
# they should (docs/embedders.md). The folder usually keeps the name that the makers gave the model. `_name_or_path` in
# a configuration is no help, because it may name the model from which this one was made. One model that is often
# distributed without a name is recognised by how it is loaded.

_CONVERTED = re.compile(r"([-_](onnx|int8|uint8|fp16|quantized|q))+$")  # what a conversion adds to a name
_PASSAGES = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Family:
    """Models that are used alike: whose vector a text gets, and what is put before a question and before a text."""

    name: re.Pattern[str]  # the whole name of a model, in small letters
    pooling: str
    query_prefix: str = ""
    text_prefix: str = ""


_ARCTIC = Family(re.compile(r"snowflake-arctic-embed-(xs|s|m|l|m-long|m-v1\.5)"), "cls", _PASSAGES)
_FAMILIES = (
    _ARCTIC,
    Family(re.compile(r"snowflake-arctic-embed-[ml]-v2\.0"), "cls", "query: "),
    Family(re.compile(r"bge-(small|base|large)-en(-v1\.5)?|mxbai-embed-large-v1"), "cls", _PASSAGES),
    Family(re.compile(r"bge-m3"), "cls"),
    Family(re.compile(r"(multilingual-)?e5-(small|base|large)(-v2)?"), "mean", "query: ", "passage: "),
    Family(re.compile(r"nomic-embed-text-v1(\.5)?"), "mean", "search_query: ", "search_document: "),
    Family(re.compile(r"gte-(small|base|large)|all-minilm-l(6|12)-v[12]|all-mpnet-base-v[12]"), "mean"),
    Family(re.compile(r"(paraphrase-multilingual|multi-qa)-minilm-l(6|12)(-cos)?-v[12]"), "mean"),
)


_UNKNOWN = Family(re.compile(r"(?!)"), "")


def family_of(names: Iterable[str], loading: Mapping[str, Any]) -> Family:
    """The family of the first of these folder names that is a known model's; where none is, one that says nothing.

    The cache of Hugging Face writes the maker before the name: `models--BAAI--bge-m3`. `loading` is what the folder's
    `sentence_bert_config.json` says under `model_args`: to load BERT without its own layer for pooling is what
    Snowflake's first arctic-embed models ask for, and no other that we know.
    """
    plain = [_CONVERTED.sub("", name.lower().rpartition("--")[2]) for name in names]
    named = (family for name in plain for family in _FAMILIES if family.name.fullmatch(name))
    return next(named, _ARCTIC if loading.get("add_pooling_layer") is False else _UNKNOWN)


_FILES = "model.onnx model_quantized.onnx model_int8.onnx model_uint8.onnx model_fp16.onnx model_q4.onnx".split()
_POOLINGS = ("cls", "mean", "last")
_STEPS = {"Transformer", "Pooling", "Normalize"}  # what sentence-transformers may do in a model that is run here
_LONGEST = 512  # tokens, where neither the folder nor the settings say: an episode is shorter
# Tokens of texts of like length that are run at once. On a processor more does not pay: what fills the shorter ones up
# is reckoned with the rest, and large tensors leave its cache (16 long texts at once take a third longer than alone).
_TOGETHER = 512
_LARGEST_JSON = 16 << 20  # bytes
_SAMPLE = 1 << 16  # bytes from the beginning and the end of a file that tell it from another
_CJK_TRUST = 0.2
_CJK_VOCABULARY = 2_000  # characters; below it a model was not made for Chinese, Japanese or Korean


@dataclass(frozen=True, slots=True)
class Recipe:
    """The files of a model, and how its output becomes one vector of a text."""

    model: Path
    tokenizer: Path
    pooling: str
    query_prefix: str
    text_prefix: str
    max_tokens: int

    @property
    def name(self) -> str:
        """Of the folder, and of what makes two models' vectors differ: the files, and what is done to a text."""
        digest = hashlib.sha256(f"{self.pooling} {self.text_prefix} {self.max_tokens}".encode())
        for path in (self.model, self.tokenizer):
            size = path.stat().st_size
            with open_regular(path) as file:
                digest.update(str(size).encode() + file.read(_SAMPLE))
                file.seek(max(0, size - _SAMPLE))
                digest.update(file.read(_SAMPLE))
        return f"onnx-{self.tokenizer.parent.name}-{digest.hexdigest()[:8]}"


def recipe_of(given: Path, settings: EmbedderSettings) -> Recipe:
    """Read how to run the model in a folder (or the file itself). Raises EmbedderFailed where the folder is not there,
    which may be on a disk that is away, and InvalidInput that says what is missing in it, or what nobody said."""
    given = named_path(str(given)).absolute()
    model = _model_file(given)
    folder = next(
        (place for place in (model.parent, *model.parents[1:2]) if is_regular(place / "tokenizer.json")), None
    )
    if folder is None:
        raise InvalidInput(f"{model.parent} has no tokenizer.json, which the model's publisher provides with it.")
    steps = {str(step.get("type", "")).rpartition(".")[2] for step in _json(folder / "modules.json", [])}
    if steps - _STEPS:
        raise InvalidInput(f"{folder} holds a model with a {min(steps - _STEPS)} step, which cannot be run here.")
    prompts = _json(folder / "config_sentence_transformers.json", {}).get("prompts") or {}
    sentences = _json(folder / "sentence_bert_config.json", {})
    family = family_of((named.name for named in (folder, *folder.parents[:2])), sentences.get("model_args") or {})
    longest = sentences.get("max_seq_length") or _LONGEST
    pooling = settings.pooling or _pooling(folder) or family.pooling
    if not pooling:
        raise InvalidInput(
            f"{folder} does not say how its model makes one vector of a text; set embedder.pooling to what the model's "
            "page says: cls, mean or last (any of them, if the model does it by itself)."
        )
    return Recipe(
        model=model,
        tokenizer=folder / "tokenizer.json",
        pooling=pooling,
        query_prefix=settings.query_prefix or prompts.get("query") or family.query_prefix,
        text_prefix=settings.text_prefix or prompts.get("document") or prompts.get("passage") or family.text_prefix,
        max_tokens=min(settings.max_tokens or longest, longest),
    )


def _model_file(given: Path) -> Path:
    if is_regular(given):
        return given
    if not is_folder(given):
        raise EmbedderFailed(f"There is no folder {given}; recall.embedder names one as onnx:/path/to/model.")
    places = [folder / name for folder in (given, given / "onnx") for name in _FILES]
    file = next((place for place in places if is_regular(place)), None)
    if file is None:
        raise InvalidInput(f"{given} holds no model.onnx; name the file itself as onnx:/path/to/file.onnx.")
    return file


def _pooling(folder: Path) -> str:
    """As the folder says; empty where it says nothing."""
    said = _json(folder / "1_Pooling" / "config.json", {})
    modes = {"cls": "cls_token", "mean": "mean_tokens", "last": "lasttoken"}
    chosen = [name for name, mode in modes.items() if said.get(f"pooling_mode_{mode}")]
    others = [key for key, value in said.items() if key.startswith("pooling_mode_") and value is True]
    if len(others) > len(chosen) or len(chosen) > 1:
        raise InvalidInput(f"{folder} wants a pooling that is not known here; there are {', '.join(_POOLINGS)}.")
    return chosen[0] if chosen else str(said.get("pooling_mode") or "")


def _json(path: Path, default: Any) -> Any:
    """Return what a file of the folder says, or the default where there is none."""
    if not is_regular(path):
        return default
    try:
        said = json.loads(read_regular(path, most=_LARGEST_JSON))
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error
    if not isinstance(said, type(default)):
        raise InvalidInput(f"{path} is not what sentence-transformers writes there.")
    return said


class OnnxEmbedder:
    """A sentence model on this machine; some tens or hundreds of texts a second and core."""

    local = True
    reads_sentences = True

    def __init__(self, recipe: Recipe, threads: int = 1) -> None:
        if recipe.pooling not in _POOLINGS:
            raise InvalidInput(f"The pooling is “{recipe.pooling}”; it is one of {', '.join(_POOLINGS)}.")
        if find_spec("onnxruntime") is None:
            raise InvalidInput("A model in a folder needs onnxruntime; install it with: pip install 'picomem[onnx]'")
        self.name = recipe.name
        self._recipe = recipe
        self._threads = threads
        self._loading = Lock()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 row of length 1 a text. Raises EmbedderFailed where the model cannot be loaded or run."""
        return self._embedded([self._recipe.text_prefix + text for text in texts])

    def embed_question(self, text: str) -> np.ndarray:
        """The row of a question, with the prefix that the model wants before it."""
        return self._embedded([self._recipe.query_prefix + text])[0]

    def trust(self, text: str) -> float:
        """A model whose vocabulary has few Chinese, Japanese and Korean characters was not made for them."""
        return _CJK_TRUST if is_cjk(text) and not self._knows_cjk else 1.0

    def _embedded(self, texts: Sequence[str]) -> np.ndarray:
        if not texts:
            return np.zeros((0, 0), np.float32)
        with self._loading:
            session, tokenizer = self._session, self._tokenizer
        encoded = tokenizer.encode_batch(texts)
        rows: list[np.ndarray] = [np.zeros(0)] * len(texts)
        for picked in batches([len(encoding.ids) for encoding in encoded]):
            for i, row in zip(picked, self._run(session, [encoded[i] for i in picked]), strict=True):
                rows[i] = row
        return unit_rows(np.stack(rows))

    def _run(self, session: onnxruntime.InferenceSession, encoded: list[Any]) -> np.ndarray:
        width = max(len(encoding.ids) for encoding in encoded)
        given = {
            name: np.zeros((len(encoded), width), np.int64)
            for name in ("input_ids", "attention_mask", "token_type_ids", "position_ids")
        }
        for i, encoding in enumerate(encoded):
            given["input_ids"][i, : len(encoding.ids)] = encoding.ids
            given["attention_mask"][i, : len(encoding.ids)] = encoding.attention_mask
            given["token_type_ids"][i, : len(encoding.ids)] = encoding.type_ids
        given["position_ids"][:] = np.arange(width)
        wanted = {argument.name for argument in session.get_inputs()}
        if wanted - given.keys():
            raise EmbedderFailed(
                f"The model wants {', '.join(sorted(wanted - given.keys()))}, which is not known here."
            )
        output = _run_safely(session, {name: given[name] for name in wanted})
        return pooled(output, given["attention_mask"], self._recipe.pooling)

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        import onnxruntime  # noqa: PLC0415 - only a vector needs it

        onnxruntime.disable_telemetry_events()  # of the builds for Windows
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            return onnxruntime.InferenceSession(str(self._recipe.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise EmbedderFailed(f"{self._recipe.model} cannot be loaded: {_first_line(error)}") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        try:
            loaded = Tokenizer.from_file(str(self._recipe.tokenizer))
        except Exception as error:
            raise EmbedderFailed(f"{self._recipe.tokenizer} cannot be loaded: {_first_line(error)}") from error
        loaded.no_padding()
        loaded.enable_truncation(self._recipe.max_tokens)
        return loaded

    @cached_property
    def _knows_cjk(self) -> bool:
        with self._loading:
            vocabulary = self._tokenizer.get_vocab()
        return sum(is_cjk(token) for token in vocabulary) >= _CJK_VOCABULARY


def batches(lengths: Sequence[int], together: int = _TOGETHER) -> Iterator[list[int]]:
    """The texts of these lengths (in tokens) in batches, by their numbers, short ones first. A batch, filled up to its
    longest, has at most `together` tokens, unless it is one text. Pure."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[number] > together:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def pooled(output: np.ndarray, mask: np.ndarray, how: str) -> np.ndarray:
    """One row a text, from one row a token (or from a model that has done it: then as it is). Pure."""
    if output.ndim == 2:
        return output
    if how == "cls":
        return output[:, 0]
    if how == "last":
        return output[np.arange(len(output)), mask.sum(axis=1) - 1]
    weights = mask[:, :, None].astype(np.float32)
    return (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)


def _run_safely(session: onnxruntime.InferenceSession, given: dict[str, np.ndarray]) -> np.ndarray:
    """The model's vectors of sentences where it makes them, else its vectors of tokens, which come first."""
    names = [output.name for output in session.get_outputs()]
    chosen = "sentence_embedding" if "sentence_embedding" in names else names[0]
    try:
        output = np.asarray(session.run([chosen], given)[0])
    except Exception as error:
        raise EmbedderFailed(f"The model could not be run: {_first_line(error)}") from error
    if output.ndim not in (2, 3) or len(output) != len(given["input_ids"]):
        raise EmbedderFailed(f"The model answers {chosen} of shape {output.shape}, which is no vector a text or token.")
    return output


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
