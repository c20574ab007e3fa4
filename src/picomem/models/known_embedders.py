"""The pooling and the prefixes of well-known sentence models, by the name of the model.

Many model folders, above all those converted to ONNX, leave out the files that describe the pooling and the prefix of a
question. The network shows neither, and with wrong values it still returns vectors, which find only a part of what they
should (docs/embedders.md). The folder usually keeps the name that the makers gave the model. `_name_or_path` in a
configuration is no help, because it may name the model from which this one was made. One model that is often
distributed without a name is recognised by how it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from picomem.light_dataclass import dataclass

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
