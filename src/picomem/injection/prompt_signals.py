"""Signals of a prompt that show whether it asks for something of this person's past; a classifier decides from them.

“Why did we drop Redis for the locks” asks for it, and so does “until when do we keep the photos”. An order about the
code in sight, a pasted stack trace, or a question that any manual answers does not. Pure, and without a vector; most
signals are words to look for, because a host waits, and compiling a pattern takes longer than all of them.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import log1p

from picomem.light_dataclass import dataclass
from picomem.models.classifier import Observed
from picomem.recall.question_form import asks
from picomem.text.terms import is_cjk, terms

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
_NAME = r"(?<=[a-z,;:] )[A-Z]\w|[\u3400-\u9fff][A-Za-z]{2}|[A-Z]{2}"


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
        "names somebody or something": bool(re.search(_NAME, text)),
    }


def _shows(cue: _Cue, words: frozenset[str], text: str) -> bool:
    return not cue.words.isdisjoint(words) or any(piece in text for piece in cue.pieces)
