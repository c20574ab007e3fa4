"""Whose words stand in a message: the person's, or those of others that came in with it. Pure, by structure alone.

Others wrote

- lines quoted with `>`;
- what stands between a tag and the last closing tag of its name, because the text itself may hold others, and what
  follows a host's tag that is never closed;
- what a host marks as written in a user's place (below);
- a letter with its fields: two or more lines `Name: value`, a blank line, and all that follows, because nothing says
  where it ends; and what follows a line of dashes with a name in it;
- all that follows the first 100,000 characters or 4,000 lines: nobody types more.

The rest is the person's as far as one can see. But nothing shows of a letter that was pasted without its head whose it
is. So what decides about memory reads less: `typed_line` and `typed_words` give what a person surely typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from picomem.text.late_pattern import late_pattern

# The fixed marks by which hosts show what they, and not the person, wrote in a user's place. Pure.
#
# A host tells the model what happened (a hook spoke, a sub-agent is done, a message was forwarded) as a message of
# role user. It marks that by a tag or by a beginning that is the same in each language. Nothing says where a marked
# text ends, so it goes on to the end of the message; only a quoted reply has a mark of its own at its end. What stands
# before it is the user's. The marks are those of Claude Code, Codex, OpenClaw and nanobot, and count in every message,
# because a message of one program is pasted into another.

HOST_TAGS = (
    "system-reminder|teammate-message|untrusted-text|task-notification|tool_result|function_results|"
    "relevant[-_]memories|hindsight_memories|claude-mem-context|picomem(?:-memory)?|recalled|memory-context|"
    "user-prompt-submit-hook|session-start-hook"
)
_BRACKETED = (
    r"forwarded from\b|thread (?:starter|history) - for context|internal task completion event|"
    r"inter-session message\b|sub-?agent (?:context|task|result|completion)\b|"
    r"sub-?agent '[^'\n]{0,200}' (?:completed|failed|finished|timed out)|background task\b|"
    r"queued messages while agent was busy\](?=[^\0]{0,400}\(from )|tool (?:result|output|call)s?\]|"
    r"system(?: message)?\]|scheduled task\b|cron\b[^\]\n]{0,100}\]|heartbeat\b[^\]\n]{0,100}\]"
)
_PHRASES = (
    r"a (?:sub-?agent|cron|background) (?:task|job)\b[^\n]{0,200}? (?:just )?(?:completed|finished|failed|timed out)\b|"
    r"openclaw runtime context \(internal\)|agent-to-agent (?:message|announce|reply) context\s*:|"
    r"another (?:\w+ )?(?:agent|session) (?:has )?sent (?:you )?a message\b|"
    r"another language model started to solve this problem and produced a summary|"
    r"the following is the codex agent history|user initiated a review task\.|"
    r"# (?:context from my ide setup|files mentioned by the user)\s*:|"
    r"operation stopped by hook:|warning: apply_patch was requested via|warning: the maximum number of unified exec|"
    r"automation: [^\n]{1,200}\nautomation id:|"
    r"this session is being continued from a previous conversation|"
    r"(?:userpromptsubmit|sessionstart|sessionend|pretooluse|posttooluse|subagentstop|subagentstart|precompact|stop|"
    r"notification|permissionrequest)(?::[\w*.-]{1,60})? hook (?:\w+ )?(?:success|feedback|context|error|stopped)\b|"
    r"[\w ]{1,60}\(untrusted[^)\n]{0,60}\)\s*:|system(?: \(untrusted\): |: \[[^\]\n]{1,60}\])|"
    r"(?:security notice: )?the following content is from an external, untrusted source|"
    r"new (?:e-?mail|message) from [^\n]{1,200}\n[ \t]*subject\b|task:[^\n]{0,200}\|[ \t]*job id:|"
    r"base directory for this skill\s*:|called the \w{1,40} tool with the following input\b|"
    r"result of calling the \w{1,40} tool\b"
)
_TO_THE_END = late_pattern(rf"(?im)^[ \t]*(?:\[(?:{_BRACKETED})|(?:{_PHRASES}))|<\|[a-z_]{{2,40}}\|>")
CHANNELS = (
    "WhatsApp|Telegram|Discord|Slack|Signal|iMessage|BlueBubbles|Google ?Chat|(?:MS|Microsoft )?Teams|Matrix|"
    "Mattermost|LINE|Zalo|Feishu|Lark|Nostr|Twitch|Tlon|IRC|SMS|E-?mail|Gmail|WebChat|QQ|WeChat|DingTalk|"
    r"Nextcloud(?: Talk)?"
)
# OpenClaw also drives the programs of others, and their transcripts hold its envelopes: `[WhatsApp Bob +49… 10:00] …`.
_ENVELOPE = late_pattern(
    rf"(?im)^[ \t]*\[(?:{CHANNELS})\b(?=[^\]\n]{{0,300}}(?:\d{{4}}-\d\d-\d\d|\bid:|\+\d|@g\.us))[^\]\n]{{0,300}}\]"
)
# What is said in a group: `[Group chat] Bob: …`. Only a speaker behind the bracket tells it from one of the person's.
_NAME = r"@?[^\W\d_][\w.'’-]{0,30}(?: (?![a-z])[^\W\d_][\w.'’-]{0,30}){0,2}(?: \([^()\n]{1,20}\))?"
_IN_A_GROUP = late_pattern(rf"(?m)^[ \t]*\[(?!Image #)[^\]\n]{{1,200}}\][ \t]*{_NAME}(?::(?=\s)|：)")
_REPLY = late_pattern(r"(?is)\[replying to\b[^\]\n]{0,200}\](?:.*\[/replying\]|.*)")
_SINCE_REPLY = late_pattern(
    r"(?is)\[chat messages since your last reply[^\]\n]{0,80}\](?:.*?)(?:\[current message[^\]\n]{0,80}\]|\Z)"
)
_EXTERNAL = late_pattern(
    r"(?is)[<‹]{2,4}\s{0,4}EXTERNAL_UNTRUSTED_CONTENT(?:.*[<‹]{2,4}\s{0,4}END_EXTERNAL_UNTRUSTED_CONTENT[^\n]{0,60}|.*)"
)
_ONE_LINE = late_pattern(r"(?m)^[ \t]*(?:\N{ROUND PUSHPIN}|\N{SATELLITE})[^\n]*")  # a place that somebody shared
_OUTPUT = late_pattern(
    r"\A\s*[<‹](?:bash-(?:stdout|stderr|input)|local-command-(?:stdout|stderr)|task-notification)[>›]", re.IGNORECASE
)


def spans_of_hosts(text: str) -> Iterator[tuple[int, int]]:
    """Where a message holds what its host wrote, in any order."""
    if _OUTPUT.match(text):
        yield 0, len(text)
        return
    yield from (match.span() for match in _ONE_LINE.finditer(text))
    if "external_untrusted_content" in text.lower() and (external := _EXTERNAL.search(text)):
        yield external.span()
    if "[" in text:
        yield from (match.span() for pattern in (_REPLY, _SINCE_REPLY) if (match := pattern.search(text)))
    to_the_end = (_TO_THE_END, _ENVELOPE, _IN_A_GROUP) if "[" in text else (_TO_THE_END,)
    yield from ((match.start(), len(text)) for pattern in to_the_end if (match := pattern.search(text)))


Span = tuple[int, int]

BLANK = "\x00"
_LONGEST = 100_000  # characters, and
_MOST_LINES = 4_000  # lines of a message that are told apart
_LONGEST_TYPED = 600  # characters of a message in which all is taken for typed, and
_MOST_TYPED_LINES = 6  # its lines; of a longer one only the first paragraph is
_LONGEST_TYPED_LINE = 400

# Ingest writes ‹ for <, since what it stores has no tags.
_TAG = late_pattern(r"[<‹]\s{0,4}(/?)\s{0,4}([A-Za-z][\w:.-]{0,60})(?:\s[^<>‹›]{0,400})?[>›]")
_HOST_TAG = late_pattern(rf"(?i)[<‹]\s{{0,4}}(?:{HOST_TAGS})(?![\w-])[^<>‹›]{{0,400}}[>›]")
_FIELD = late_pattern(
    r"[ \t>*]{0,8}[^\W\d_][^\s:：<>=`/\\(){}\[\]]{0,20}(?:[ \t-][^\s:：<>=`/\\(){}\[\]]{1,20}){0,2}\*{0,2}"
    r"\s?[:：](?!//)\*{0,2}[ \t]*\S"
)
_RULE_WITH_NAME = late_pattern(r"(?m)^[ \t]*-{2,}[ \t]?(?=[^\W_])[^\n]{3,60}?[^\W_][ \t]?-{2,}[ \t]*$")
_QUOTED = late_pattern(r"(?m)^[ \t]{0,3}>.*$")
_FENCE = r"(?ms)^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[^\n]*|\Z)"
_SHOWN = late_pattern(r"\A\s*[>|#$%<‹{}\[\]()*`\"“”„«»「『'‘-]")  # a line that begins so shows something


@lru_cache(maxsize=2)  # of one message several questions are asked
def without_others(text: str) -> str:
    """The text with the words of others blanked; positions and line breaks stay."""
    head = _end_of_head(text)
    if head < len(text):
        return without_others(text[:head]) + _blank(text[head:])
    text = _without_blocks(text)
    return _QUOTED.sub(lambda quoted: _blank(quoted[0]), text) if ">" in text else text


def holds_others(text: str) -> bool:
    """Return whether others are known to have written some of it."""
    return BLANK in without_others(text)


def told_apart(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, each with whether others wrote it. The pieces joined are the text."""
    kept = without_others(text)
    pieces: list[tuple[bool, str]] = []
    position = 0
    for match in re.finditer(rf"{BLANK}[{BLANK}\s]*{BLANK}|{BLANK}", kept):
        if match.start() > position:
            pieces.append((False, text[position : match.start()]))
        pieces.append((True, text[match.start() : match.end()]))
        position = match.end()
    if position < len(text):
        pieces.append((False, text[position:]))
    return pieces


def own_words(text: str) -> str:
    """The words that nobody else is known to have written."""
    return without_others(text).replace(BLANK, "")


def typed_words(text: str) -> str:
    """The words that the person typed: their own words in a message of a size that people type, otherwise its first
    paragraph."""
    return _without_doubted(text).replace(BLANK, "")


def pasted_words(text: str) -> str:
    """The words that others wrote, or may have written: what `typed_words` leaves out."""
    kept = _without_doubted(text)
    return "".join(char for char, own in zip(text, kept, strict=True) if own == BLANK or char == "\n").strip()


def typed_line(text: str) -> Span:
    """The place of the one line that a message consists of, if it is one that a person typed: no list or quotation. An
    empty span where it is none. A block that a host put before or behind the line counts as nothing."""
    if len(text) > _LONGEST:
        return 0, 0
    kept = _without_blocks(text)
    said = [match.span() for match in re.finditer(rf"[^\n{BLANK}]*[^\s{BLANK}][^\n{BLANK}]*", kept)]
    if len(said) != 1 or said[0][1] - said[0][0] > _LONGEST_TYPED_LINE or _SHOWN.match(kept[slice(*said[0])]):
        return 0, 0
    return said[0]


def without_fences(text: str) -> str:
    """The text with fenced code blanked; a fence that is never closed runs to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    return re.sub(_FENCE, lambda fence: _blank(fence[0]), text)


def _without_blocks(text: str) -> str:
    for start, end in _spans_of_others(text):
        text = text[:start] + _blank(text[start:end]) + text[end:]
    return text


def _without_doubted(text: str) -> str:
    kept = without_others(text)
    if len(text) <= _LONGEST_TYPED and text.strip().count("\n") < _MOST_TYPED_LINES:
        return kept
    first = re.search(r"\n[ \t]*\n", text.lstrip())
    end = len(text) - len(text.lstrip()) + (first.start() if first else 0)
    return kept[:end] + _blank(kept[end:])


def _end_of_head(text: str) -> int:
    """The end of the part of a message that is told apart."""
    if text.count("\n") < _MOST_LINES:
        return min(len(text), _LONGEST)
    return min(_LONGEST, len("\n".join(text.split("\n", _MOST_LINES)[:_MOST_LINES])))


def _spans_of_others(text: str) -> Iterator[Span]:
    if "<" in text or "‹" in text:
        yield from _tagged(text)
    yield from spans_of_hosts(text)
    begins = [match.start()] if (match := _RULE_WITH_NAME.search(text)) else []
    if (letter := _letter_begins(text)) is not None:
        begins.append(letter)
    if begins:
        yield min(begins), len(text)


def _tagged(text: str) -> Iterator[Span]:
    tags = [(match.start(), match.end(), match[1], match[2].lower()) for match in _TAG.finditer(text)]
    last = {name: end for _, end, closes, name in tags if closes}
    position = 0
    for start, end, closes, name in tags:
        if not closes and start >= position and last.get(name, 0) > end:
            position = last[name]
            yield start, position
    if (unclosed := next((match for match in _HOST_TAG.finditer(text, position)), None)) is not None:
        yield unclosed.start(), len(text)


def _letter_begins(text: str) -> int | None:
    """The position of fields with a text below them."""
    at, begins, fields = 0, 0, 0
    for line in text.splitlines(keepends=True):
        if _FIELD.match(line):
            begins = begins if fields else at
            fields += 1
        elif not line.strip() and fields > 1:
            if text[at:].strip():
                return begins
        else:
            fields = 0
        at += len(line)
    return None


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", BLANK, text)
