"""Signals of a prompt that show whether it asks for something of this person's past; a classifier decides from them.

“Why did we drop Redis for the locks” asks for it, and so does “until when do we keep the photos”. An order about the code
in sight, a pasted stack trace, or a question that any manual answers does not. Pure, and without a vector: a host waits
for the answer.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from math import log1p

from picomem.models.classifier import Observed
from picomem.text.terms import is_cjk, terms

_LONGEST = 4_000  # characters that are looked at
_WORDS = 120  # of a prompt that are hashed
_ZH = "[\u3400-\u9fff]"

# A name, and a pattern without regard to case; `^` is the beginning of the prompt.
_CUES: tuple[tuple[str, str], ...] = (
    ("asks a question", r"[?？]\s*$|[吗呢么]\s*[?？。]?\s*$"),
    (
        "begins like a question",
        r"^\W*(?:and |so |but |ok |hey |hi |um |btw )*(?:what|whats|why|how|hows|where|when|until when|since when|who|"
        r"whos|which|whose|is|are|was|were|does|did|do|can|could|should|would|has|have|had|any)\b|"
        r"^(?:wer|was|wie|wo|wann|warum|welche\w*|qué|cómo|dónde|cuándo|quién|cuál)\b",
    ),
    ("asks in Chinese", r"什么|为啥|为什么|哪|谁|多少|几(?!乎)|怎么|咋|是不是|有没有|能不能|可不可以|吗|多久|多大"),
    (
        "begins with an order",
        r"^\W*(?:just |now |then |next |ok |also |first |go |and |please |pls |can you |could you )*(?:fix|add|remove|"
        r"delete|rename|refactor|implement|write|rewrite|create|update|show|open|look|explain|find|search|list|print|"
        r"summari[sz]e|translate|move|change|make|generate|check|review|debug|try|rerun|revert|undo|commit|push|merge|"
        r"install|format|run|test|convert|extract|split|clean|improve|set|replace|restart|rebuild|deploy|apply|read|"
        r"turn|give|help|bump|drop|rebase|wire|put|use|build|draft|cut|port)\b|"
        r"^(?:把|给|帮|请|查|写|翻译|总结|列|改|删|加|看|算|解释|继续|跑|试|换|修|重新|先|用|将)",
    ),
    ("says we or our", r"\b(?:we|we're|we've|our|ours|us)\b|我们|咱|\b(?:wir|unser\w*|nosotros|nuestr\w+)\b"),
    (
        "speaks of the past",
        r"\b(?:did|was|were|had|used to|decided?|agreed?|chose|chosen|settled|picked|dropped|last (?:week|month|year|"
        r"time|spring|summer|autumn|fall|winter|\w+day)|back (?:in|then)|earlier|previously|ago|before|originally|"
        r"yesterday|in (?:january|february|march|april|may|june|july|august|september|october|november|december))\b|"
        r"上次|之前|当时|以前|当初|后来|那次|那会|说好|定的|定了|决定|去年|上个?[月周]|前[年天]|昨天|原来",
    ),
    (
        "asks to be reminded",
        r"\bremind|\bremember|\brecall\b|\bagain\b[\s?]*$|\bwhat (?:was|were|did)\b|\bonce more\b|记得|还记|提醒我|回忆|忘了",
    ),
    ("holds code", r"[{}<>;]|=>|::|\w\(|\)\s*$|\]\s*=|^\s*(?:def|class|import|from|const|let|fn|func|SELECT)\b"),
    (
        "looks like output",
        r"^\s*(?:\$|>>>|#|at |\[|\{|\d{4}-\d\d|File \"|error\b|warn\w*\b|info\b|debug\b|traceback|fatal\b|npm |"
        r"diff --git)|\b(?:exit code|stack ?trace|exception|errno|undefined|segfault|panicked|stderr)\b|\w+Error\b|报错",
    ),
    ("points at something in sight", r"\b(?:this|that|these|those|above|below|it)\b|\bline \d|这|那个|上面|下面|刚才"),
    ("is about the work at hand", r"\b(?:bug|errors?|tests?|build|commit|branch|pr|diff|function|script|file|line|logs?|typo|lint)\b|报错|代码|函数|测试|提交|分支|脚本"),
    ("says I or me", r"\b(?:i|i'm|im|me|my)\b|我(?!们)"),
    ("names a path or a name of code", r"\b[\w-]+/[\w./-]+|\b\w+_\w+|\b[a-z]+[A-Z]\w+|\.\w{2,4}\b"),
    ("is small talk", r"^(?:\W*(?:thanks|thank you|thx|ty|hi|hello|hey|ok|okay|yes|no|nope|yep|yeah|cool|great|nice|perfect|sorry|lol|haha|good|hm+|wow|ugh|bye|sure|lgtm|done|continue|go on)\b\W*)+|^(?:谢谢|好的?|嗯|行|可以|哈+|早|晚安|辛苦|没事|收到|你好|继续)"),
    ("is in Chinese", _ZH),
    ("names somebody or something", r"(?<=[a-z,;:] )[A-Z][\w-]+|(?<=[\u3400-\u9fff])[A-Za-z]{2,}|[A-Z]{2,}"),
)  # fmt: skip


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for name, pattern in _CUES)


def observe_prompt(prompt: str) -> Observed:
    """The signals of a prompt, and the words of it that are hashed: terms, pairs of words, and how it begins."""
    text = prompt.strip()[:_LONGEST]
    signals = {name: 1.0 for name, pattern in _compiled() if pattern.search(text)}
    size = len(text) * (3 if is_cjk(text) else 1)
    signals |= {
        "is long": log1p(size) / 5,
        "has many lines": log1p(text.count("\n")),
        "is very long": float(size > 400),
    }
    words = re.findall(rf"[a-z']+|{_ZH}|\d+", text.lower())[:_WORDS]
    hashed = [f"w:{term}" for term in terms(text)[:_WORDS]]
    hashed += [f"b:{first} {second}" for first, second in pairwise(words)]
    hashed += [f"^:{' '.join(words[:count])}" for count in (1, 2, 3)]
    return Observed(signals, list(dict.fromkeys(hashed)))
