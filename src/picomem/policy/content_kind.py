"""The kind of a memory that came without one, by its words. Pure."""

from __future__ import annotations

import re

from picomem.records.kinds import Kind

_SINCE = r"(?i)(?:from now on|going forward|henceforth|from today|starting \w+),? "
_TELLING = (
    (
        Kind.DECISION,
        r"(?i)\bwe(?:'ve| have)? (?:decided|agreed|chose|picked|settled|are going with)\b|我们.{0,4}决定|选定",
    ),
    (
        Kind.PREFERENCE,
        r"(?i)^i(?:'d| would)? (?:\w+ )?(?:prefer|like|love|hate|dislike|enjoy|favou?r|rather)\b|"
        r"我.{0,4}(?:喜欢|偏好|习惯|讨厌|不爱|爱吃|爱喝)",
    ),
    (
        Kind.INSTRUCTION,
        r"(?i)^(?:always|never|don't|do not|please|use|run|write|keep|avoid|make sure|you (?:should|must))\b|"
        r"\b(?:must|should) (?:always|never|not)\b|\brules:|\b(?:from now on|going forward)\b|^(?:不要|别|必须|"
        r"务必|始终|总是|一律|每次|请|用)|以后|今后",
    ),
)


def kind_of(content: str) -> Kind:
    """The kind of a memory, by its words."""
    if re.match(_SINCE, content):
        content = content.partition(", ")[2]
        statement = r"(?i)(?:i'll|i'm|i am|i work|i live|my|the|our|it|he|she|they)\b(?!.*\b(?:must|should|need)\b)"
        if re.match(statement, content):
            return Kind.FACT
        return Kind.PREFERENCE if re.match(r"(?i)i(?:'d)? (?:prefer|like|want)", content) else Kind.INSTRUCTION
    for kind, words in _TELLING:
        if re.search(words, content):
            return kind
    return Kind.FACT
