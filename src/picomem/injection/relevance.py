"""Whether what memory has helps with a prompt, 0–1: what is put beside a prompt unasked must be worth its tokens. Pure.

The confidence of recall is made for questions: it says how likely an answer is among the hits, and the score of a hit
depends on how much is stored. Most prompts are no questions. An order to an agent shares words with what was said of
the same code, and needs none of it. So the prompt is judged first, by a classifier of its own: does
it ask for something of this person's past? Then the hits, the most useful first (`usefulness`): how much of the
prompt do they hold, which names of it does none hold, and do they lack the kind of answer that it asks for? A logistic
function weighs these signals. Its weights stand in relevance.json; `python -m training.relevance` fits them, and
docs/hooks.md shows how they err.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp, fsum, log1p
from pathlib import Path

from picomem.light_dataclass import dataclass
from picomem.models.classifier import Observed, linear_logit
from picomem.recall.answer_kinds import calls_for_kind, lacks_kind
from picomem.recall.question_form import asks
from picomem.records.hit import Answer, Hit
from picomem.text.synonyms import held_terms, synonyms
from picomem.text.terms import is_cjk, query_terms, terms

# Signals of a prompt that show whether it asks for something of this person's past; a classifier decides from them.
#
# “Why did we drop Redis for the locks” asks for it, and so does “until when do we keep the photos”. An order about the
# code in sight, a pasted stack trace, or a question that any manual answers does not. Pure, and without a vector; most
# signals are words to look for, because a host waits, and compiling a pattern takes longer than all of them.

_LONGEST = 4_000  # characters that are looked at
_WORDS = 120  # of a prompt that are hashed
_WORD = "[a-zà-ÿ']+|[\u3400-\u9fff]|\\d+"
_MANY = 400  # characters of a very long prompt; a Chinese one says as much in a third


@dataclass(frozen=True, slots=True)
class _Cue:
    """Words and, where no spaces part them, pieces of text that show something."""

    words: frozenset[str]
    pieces: tuple[str, ...] = ()


def _cue(words: str, pieces: str = "") -> _Cue:
    return _Cue(frozenset(words.split()), tuple(pieces.split()))


_FILLERS = _cue("and so but ok okay hey hi um btw please pls just now then next also first go can could would you")
_ORDERS = _cue(
    """fix add remove delete rename refactor implement write rewrite create update show open look explain find
    search list print summarize summarise translate move change make generate check review debug try rerun revert
    undo commit push merge install format run test convert extract split clean improve set replace restart rebuild
    deploy apply read turn give help bump drop rebase wire put use build draft cut port""",
    "把 给 帮 请 查 写 翻译 总结 列 改 删 加 看 算 解释 继续 跑 试 换 修 重新 先 用 将",
)
# What stands anywhere in a prompt, by the name of the signal.
_ANYWHERE = {
    "says we or our": _cue("we we're we've our ours us wir unser unsere nosotros nuestro nuestra", "我们 咱"),
    "says I or me": _cue("i i'm im me my mine ich mein meine mi"),
    "speaks of the past": _cue(
        """did was were had decided decide agreed agree chose chosen settled picked dropped last back earlier previously
        ago before originally yesterday january february march april june july august september october november
        december spring summer autumn winter""",
        "上次 之前 当时 以前 当初 后来 那次 那会 说好 定的 定了 决定 去年 上个 上周 上月 前年 前天 昨天 原来",
    ),
    "asks to be reminded": _cue("remind remember recall again", "记得 还记 提醒我 回忆 忘了"),
    "points at something in sight": _cue("this that these those above below it", "这 那个 上面 下面 刚才"),
    "is about the work at hand": _cue(
        "bug error errors test tests build commit branch pr diff function script file line log logs typo lint",
        "报错 代码 函数 测试 提交 分支 脚本 日志",
    ),
    "is small talk": _cue(
        """thanks thank thx ty hi hello hey ok okay yes no nope yep yeah cool great nice perfect sorry lol haha hm wow
        ugh bye sure lgtm done continue""",
        "谢谢 好的 嗯 哈哈 早 晚安 辛苦 没事 收到 你好 继续",
    ),
    "holds code": _cue("", "{ } < > ; => :: ) ("),
    "looks like output": _cue(
        "error warning warn traceback fatal exception errno undefined segfault panicked stderr npm", "报错 error: >>> $"
    ),
}
_NAME_OF_CODE = r"\w/\w|\w_\w|[a-z][A-Z]|\.\w{2,4}\b"
_DEFINITE = r"\b(?:the|our|that|those) \w"  # which both know: “the staging bucket”
_DEFINITE_LONGEST = 400  # characters; a brief has many
_PROPER_NAME = r"(?<=[a-z,;:] )[A-Z]\w|[\u3400-\u9fff][A-Za-z]{2}|[A-Z]{2}"


def observe_prompt(prompt: str) -> Observed:
    """The signals of a prompt, and the words of it that are hashed: terms, pairs of words, and how it begins."""
    text = prompt.strip()[:_LONGEST]
    lower = text.lower()
    words = re.findall(_WORD, lower)[: 2 * _WORDS]
    known = frozenset(words)
    signals = {name: 1.0 for name, cue in _ANYWHERE.items() if _shows(cue, known, lower)}
    signals |= {name: 1.0 for name, is_so in _forms(text, words).items() if is_so}
    size = len(text) * (3 if is_cjk(text) else 1)
    hashed = [f"w:{term}" for term in terms(text)[:_WORDS]]
    hashed += [f"b:{first} {second}" for first, second in pairwise(words[:_WORDS])]
    hashed += [f"^:{' '.join(words[:count])}" for count in (1, 2, 3)]
    hashed = list(dict.fromkeys(hashed))
    signals |= {
        "asks": asks(text),
        "names things both know": len(re.findall(_DEFINITE, lower[:_DEFINITE_LONGEST])) / 3,
        "is short": 1 / (1 + len(hashed) / 10),
        "is long": log1p(size) / 5,
        "has many lines": log1p(text.count("\n")),
        "is very long": float(size > _MANY),
    }
    return Observed(signals, hashed)


def _forms(text: str, words: list[str]) -> dict[str, bool]:
    """What the form of a prompt shows: how it begins, and what names it holds."""
    begins = next((word for word in words if word not in _FILLERS.words), "")
    return {
        "begins with an order": begins in _ORDERS.words or text.startswith(_ORDERS.pieces),
        "is in Chinese": is_cjk(text),
        "names a path or a name of code": bool(re.search(_NAME_OF_CODE, text)),
        "names somebody or something": bool(re.search(_PROPER_NAME, text)),
    }


def _shows(cue: _Cue, words: frozenset[str], text: str) -> bool:
    return not cue.words.isdisjoint(words) or any(piece in text for piece in cue.pieces)


WEIGHTS = Path(__file__).with_name("relevance.json")
_BEST = 3  # hits that are looked at
_MOST = 6.0  # of a logit, either way
_LONG = 300  # characters
# A name within a sentence, an abbreviation, a number, a name of code, or a Latin word in Chinese.
_NAME = r"(?<=[\w,;:] )[A-Z]\w+|\b[A-Z]{2,}\w*|\b\w*\d\w*\b|\b\w+_\w+\b|(?<=[\u3400-\u9fff])[A-Za-z]{2,}"


def relevance(prompt: str, answer: Answer, hits: Sequence[Hit]) -> float:
    """How likely one of these hits, the most useful first, helps with a prompt that recall was asked with, in
    hundredths, as it is shown beside the threshold."""
    if not hits:
        return 0.0
    weights = load_weights()["prompt"]
    recollects = linear_logit("recollection", observe_prompt(prompt))
    logit = weights["bias"] + sum(
        weights[name] * value for name, value in relevance_signals(prompt, recollects, answer, hits).items()
    )
    return round(1 / (1 + exp(-logit)), 2)


def most_useful_first(prompt: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits of recall, by how much each helps with the prompt; of equals the better hit comes first."""
    weights = load_weights()["hit"]
    logits = [usefulness(signals, weights) for signals in hit_signals(prompt, hits)]
    return [hits[place] for place in sorted(range(len(hits)), key=lambda place: -logits[place])]


def relevance_signals(prompt: str, recollects: float, answer: Answer, hits: Sequence[Hit]) -> dict[str, float]:
    """The signals of a prompt and its hits, by name; `recollects` is the classifier's logit that it asks for something
    of this person's past. None depends on how much is stored: a decision that is the only memory answers its question
    as surely as one among thousands."""
    asked = tuple(query_terms(prompt))
    others = synonyms(prompt, asked)
    held = [held_terms(asked, others, hit.text) for hit in hits]
    best = held[:_BEST]
    return {
        "recollection": max(-_MOST, min(_MOST, recollects)),
        "fit": answer.signs.fit if answer.signs else 0.0,
        "calls": float(calls_for_kind(prompt[:_LONG])),
        "lacks": answer.signs.lacks if answer.signs else 0.0,
        "held": len(set().union(*best)) / max(1, len(asked)),
        "known": len(set().union(*held)) / max(1, len(asked)),
        "shared": log1p(max(map(len, best))),
        "words": log1p(len(asked)),
        "names missing": log1p(_missing_names(prompt, hits[:_BEST], answer)),
        "one word": float(len(asked) <= 1),
        "lines": float(prompt.count("\n") > 1),
        "long": float(len(prompt) > _LONG),
    }


def _missing_names(prompt: str, hits: Sequence[Hit], answer: Answer) -> int:
    """Return how many names of a prompt none of the hits holds; that of their project need not be said."""
    names = {name.lower() for name in re.findall(_NAME, prompt[:_LONG])}
    told = " ".join([*(hit.text for hit in hits), *{hit.project for hit in answer.hits}]).lower()
    return sum(name not in told for name in names)


@lru_cache(maxsize=1)
def load_weights() -> Mapping[str, Mapping[str, float]]:
    """The weights of the two functions: `hit`, and `prompt`."""
    return json.loads(WEIGHTS.read_bytes())


# Whether one hit helps with a prompt, and which of several helps most. Pure.
#
# Recall ranks what was said by how well it fits the words of a question. Beside a prompt there is room for a few
# entries, so what was settled goes before what was only asked, and what an agent answered before the question. A
# logistic function weighs such signals; `python -m training.relevance` fits its weights (relevance.json).

_SHORT = 45  # tokens of a hit, with the 30 of its date and id
_SETTLED = frozenset(("decision", "preference", "instruction"))
_QUESTION_ENDS = ("?", "？", "吗", "呢", "么")


def hit_signals(prompt: str, hits: Sequence[Hit]) -> list[dict[str, float]]:
    """The signals of each hit, by name; the hits in the order of recall."""
    asked = tuple(query_terms(prompt))
    others = synonyms(prompt, asked)
    held = [held_terms(asked, others, hit.text) for hit in hits]
    spread = {term: sum(term in of_hit for of_hit in held) for term in asked}
    best = sorted((hit.score for hit in hits), reverse=True)[:2]
    scores: dict[tuple[str, int], float] = {}
    for hit in hits:
        if hit.source == "episode" and hit.transcript and hit.turns:
            said = (hit.transcript, hit.turns[1])
            scores[said] = max(scores.get(said, 0.0), hit.score)  # of the passages of a long turn the best counts
    return [
        {
            "score": hit.score,
            "lead": hit.score - (best[1] if hit.score == best[0] and len(best) > 1 else best[0] if best[1:] else 0.0),
            "place": 1 / (1 + place),
            "in memory": float(hit.source == "memory"),
            "settled": float(hit.kind in _SETTLED),
            "by an agent": float(hit.role == "assistant"),
            "follows": _followed(hit, scores),
            "only asks": float(hit.role == "user" and hit.text.rstrip(" \"')”’").endswith(_QUESTION_ENDS)),
            "lacks": float(lacks_kind(prompt, hit.text)),
            "pairs": log1p(sum(one in held[place] and other in held[place] for one, other in pairwise(asked))),
            "alone in": fsum(1 / spread[term] for term in held[place]) / max(1, len(asked)),  # in any order
            "short": float(hit.tokens < _SHORT),
            "size": log1p(hit.tokens),
        }
        for place, hit in enumerate(hits)
    ]


def _followed(hit: Hit, scores: Mapping[tuple[str, int], float]) -> float:
    """Return the score of the hit that this one comes right behind, as an answer comes behind what it answers."""
    return scores.get((hit.transcript, hit.turns[0] - 1), 0.0) if hit.source == "episode" and hit.turns else 0.0


def usefulness(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return how much speaks for a hit with these signals: a logit."""
    return weights["bias"] + sum(weights[name] * value for name, value in signals.items())
