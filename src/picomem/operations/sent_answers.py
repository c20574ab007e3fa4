"""An answer of recall as one process hands it to another: JSON, in which picomem's own texts keep their codes."""

from __future__ import annotations

import json
from typing import Any

from picomem.coded_text import CodedText, data_of, text_of
from picomem.light_dataclass import asdict
from picomem.operations.recall_views import AnswerView, HitSessionView, HitView

_CODED = "coded"  # the one name of an object that stands for a text


def sent_form(answer: AnswerView) -> bytes:
    """An answer in one line."""
    return json.dumps(_with_codes(asdict(answer)), ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def read_sent(sent: bytes) -> AnswerView:
    """The answer that `sent_form` was given. Raises ValueError for what is no JSON."""
    data = json.loads(sent.decode("utf-8", "surrogatepass"), object_hook=_coded)
    hits = [HitView(**hit) for hit in data.pop("hits")]
    sessions = [HitSessionView(**session) for session in data.pop("sessions")]
    return AnswerView(**data, hits=hits, sessions=sessions)


def _with_codes(value: Any) -> Any:
    if isinstance(value, CodedText):
        return {_CODED: data_of(value)}
    if isinstance(value, dict):
        return {name: _with_codes(inner) for name, inner in value.items()}
    return [_with_codes(inner) for inner in value] if isinstance(value, list | tuple) else value


def _coded(value: dict[str, Any]) -> Any:
    return text_of(value[_CODED]) if value.keys() == {_CODED} else value
