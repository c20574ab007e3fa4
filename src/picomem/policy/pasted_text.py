"""Other people's words in a user's message: pasted mail, quotes, blocks that a host or another agent wrote. Pure.

A person pastes a mail and asks about it. The mail's words are then in a message of origin `user`, and the person has
stated none of them. Found are:

- lines quoted with `>`, and the line that introduces them ("On Monday Bob wrote:");
- forwarded or pasted mail, from its mark or its block of headers to the end of the message, because nothing says where
  the mail ends;
- what stands in the tags of a host or of another agent (`<system-reminder>`, `<teammate-message>`), to the last closing
  tag, because the text itself may hold others, or to the end of the message where there is none;
- the part of a chat's envelope that repeats what others said ("Chat messages since your last reply");
- what a host wrote in a user's place (`host_texts`);
- what a host marked as external (`<<<EXTERNAL_UNTRUSTED_CONTENT>>>`), to the last closing mark;
- what the person introduces as another's text, and what shows to be one by its shape (`introduced_texts`) or by a line
  that only a program writes (`program_lines`);
- messages as fields of an export, minutes of a meeting and SQL (`structured_texts`).

In doubt the words are somebody else's: a person can say again what they want to be remembered. So is all that follows
the first 100,000 characters or 4,000 lines, because a text that was introduced there may run on to the end.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from picomem.policy.host_texts import written_by_hosts
from picomem.policy.introduced_texts import introduced
from picomem.policy.program_lines import shown_by_programs
from picomem.policy.structured_texts import shown_by_structure
from picomem.text.late_pattern import late_pattern

_BLANK = "\x00"
_LONGEST = 100_000  # characters, and
_MOST_LINES = 4_000  # lines of a message that are told apart: more is not typed, so what follows is somebody else's
_TAGS = (
    "system-reminder|teammate-message|untrusted-text|task-notification|tool_result|function_results|"
    "relevant[-_]memories|hindsight_memories|claude-mem-context|picomem(?:-memory)?|recalled|memory-context|"
    "user-prompt-submit-hook|session-start-hook"
)
# Ingest writes ‹ for <, since what it stores has no tags.
_BLOCK = late_pattern(
    rf"[<‹]\s{{0,4}}(?P<tag>{_TAGS})(?![\w-])[^<>‹›]{{0,400}}[>›]"
    r"(?:(?s:.*)[<‹]\s{0,4}/\s{0,4}(?P=tag)\s{0,4}[>›]|(?s:.*)\Z)",
    re.IGNORECASE,
)
_OPENING = late_pattern(rf"(?i)[<‹]\s{{0,4}}(?:{_TAGS})(?![\w-])")
# English, German, French, Spanish, Chinese, Japanese; then as mail programs write them elsewhere.
_TELLING_NAMES = (
    "from|subject|von|betreff|de|objet|asunto|发件人|主题|主題|發件人|寄件者|差出人|件名|da|oggetto|assunto|van|onderwerp|"
    "från|ämne|fra|emne|lähettäjä|aihe|od|temat|předmět|predmet|feladó|tárgy|kimden|gönderen|konu|от(?: кого)?|тема|"
    "від|từ|chủ đề|보낸 ?사람|제목|من|الموضوع|מאת|נושא|από|θέμα|subiect"
)
_HEADER_NAMES = (
    f"{_TELLING_NAMES}|to|cc|bcc|date|sent|reply-to|message-id|an|gesendet|à|para|收件人|日期|抄送|发送时间|收件者|宛先|"
    "inviato|a|data|enviad[ao](?: em| el)?|envoyé|verzonden|aan|datum|skickat|till|sendt|til|vastaanottaja|lähetetty|"
    "wysłano|do|komu|odesláno|címzett|küldve|kime|alıcı|tarih|gönderildi|кому|дата|отправлено|надіслано|đến|"
    "받는 ?사람|날짜|إلى|התאריך|אל|προς|către|送信日時"
)
_HEADER = late_pattern(rf"(?i)[ \t>*]*(?:{_HEADER_NAMES})\*{{0,2}}(?:\s?[:：]|[ \t][-–][ \t])\*{{0,2}}[ \t]*\S")
_TELLING_HEADER = late_pattern(rf"(?i)[ \t>*]*(?:{_TELLING_NAMES})\*{{0,2}}(?:\s?[:：]|[ \t][-–][ \t])")
_IN_ONE_LINE = late_pattern(r"(?i)\b(?:from|发件人)\s?[:：][^\n]{1,200}?\b(?:subject|主题)\s?[:：]")
_FORWARDED_ABROAD = (
    r"message (?:transféré|d['’]origine)|mensaje (?:reenviado|original)|mensagem (?:encaminhada|original)|"
    r"messaggio (?:inoltrato|originale)|doorgestuurd bericht|oorspronkelijk bericht|vidarebefordrat meddelande|"
    r"ursprungligt meddelande|videresendt (?:besked|melding)|(?:przekazana|oryginalna) wiadomość|"
    r"(?:пересылаемое|пересланное|исходное) сообщение"
)
_FORWARDED = late_pattern(
    r"(?im)^[ \t]*(?:-{2,}[ \t]*(?:forwarded|original|weitergeleitete|ursprüngliche|转发|轉發|原始|転送|전달된|원본|"
    rf"{_FORWARDED_ABROAD})[^\n]{{0,40}}|(?:{_FORWARDED_ABROAD}|weitergeleitet von)[^\n:：]{{0,60}}\s?[:：]|"
    r"begin forwarded message\s?:|-{2,}\s?(?:转发的?邮件|原始邮件)[^\n]{0,20}|fwd?\s?:[^\n]*)$"
)
_SUBJECT = late_pattern(
    r"(?i)\A\s*\*{0,2}(?:subject|betreff|objet|asunto|oggetto|assunto|onderwerp|temat|тема|主题|主題|件名)"
    r"\*{0,2}\s?[:：][^\n]*\n[ \t]*\n"
)
_WROTE = late_pattern(
    r"(?im)^[ \t]*(?:(?:on|am|le|el|op|il|em|den|dne)\b|在|(?=[^\n]{0,60}\d))[^\n]{3,160}"
    r"(?:wrote|schrieb|schreef|a écrit|escribió|escreveu|ha scritto|skrev|napisał(?:\(a\)|a)?|napsal(?:\(a\)|a)?|"
    r"написал(?:\(а\)|а)?|пишет|yazdı|写道|寫道)"
    r"[^\n:]{0,80}\s?[:：][ \t]*$|"
    r"^[ \t]*[^\n]{0,40}\d{4}[^\n]{0,10}\sв\s\d{1,2}:\d\d,[^\n]{1,80}[:：][ \t]*$|"
    r"^[ \t]*[^\n]{0,60}\d{1,2}:\d\d[^\n]{0,60}(?:[<‹][^\s<>‹›@]{1,80}@[^\s<>‹›]{1,80}[>›]|작성)\s?[:：][ \t]*$"
)
_SINCE_REPLY = late_pattern(
    r"(?is)\[chat messages since your last reply[^\]\n]{0,80}\](.*?)(?:\[current message[^\]\n]{0,80}\]|\Z)"
)
_EXTERNAL = late_pattern(
    r"(?is)[<‹]{2,4}\s{0,4}EXTERNAL_UNTRUSTED_CONTENT(?:.*[<‹]{2,4}\s{0,4}END_EXTERNAL_UNTRUSTED_CONTENT[^\n]{0,60}|.*)"
)
# Patterns with several `[ \t]*` take a time that grows with a power of a run of blanks, so no run is longer for them.
_LONGEST_GAP = 8
_THEIRS = late_pattern(rf"[{_BLANK}\n]+")
_LONG_GAP = late_pattern(r"[^\S\n]{9,}")
_LONGEST_TAG = 100  # characters
_OPENING_TAG = re.compile(r"\s*<([A-Za-z][\w-]{1,60})(?:\s[^<>\n]{0,200})?>")
_CLOSING_TAG = re.compile(r"</([A-Za-z][\w-]{1,60})>\s*\Z")
_QUOTED = late_pattern(r"(?m)^[ \t]{0,3}>.*$")


@lru_cache(maxsize=2)  # of one message several questions are asked
def without_pasted(text: str, *, machines: bool = True) -> str:
    """The text with other people's words blanked; positions and line breaks stay. Without `machines` what a machine
    printed stays."""
    longest = _end_of_head(text)
    if longest < len(text):
        return without_pasted(text[:longest], machines=machines) + _blank(text[longest:])
    shortened = _LONG_GAP.sub(lambda gap: gap[0][:_LONGEST_GAP], text)
    if len(shortened) < len(text):
        return _with_gaps(text, without_pasted(shortened, machines=machines))
    if _OPENING.search(text):
        text = _BLOCK.sub(_blanked, text)
    if "messages since" in text.lower():
        text = _SINCE_REPLY.sub(_blanked, text)
    if "external_untrusted_content" in text.lower():
        text = _EXTERNAL.sub(_blanked, text)
    theirs = (
        written_by_hosts(text),
        introduced(text, machines=machines),
        shown_by_programs(text),
        shown_by_structure(text),
    )
    for start, end in chain.from_iterable(theirs):
        text = text[:start] + _blank(text[start:end]) + text[end:]
    begins = _mail_begins(text)
    if begins is not None:
        text = text[:begins] + _blank(text[begins:])
    return _QUOTED.sub(_blanked, text) if ">" in text else text


def _with_gaps(text: str, kept: str) -> str:
    """What is kept of a text whose long gaps were shortened, with the gaps at their length again: each stays or is
    blanked with its last blank."""
    pieces: list[str] = []
    read = position = 0
    for gap in _LONG_GAP.finditer(text):
        end = read + gap.start() + _LONGEST_GAP - position
        pieces.append(kept[read:end])
        rest = text[gap.start() + _LONGEST_GAP : gap.end()]
        pieces.append(_BLANK * len(rest) if kept[end - 1] == _BLANK else rest)
        read, position = end, gap.end()
    pieces.append(kept[read:])
    return "".join(pieces)


def without_wrapping(text: str) -> str:
    """The text without the tagged block that a host put before or behind a person's words, to the last closing tag of
    its name. A text that is nothing but such a block stays."""
    if opening := _OPENING_TAG.match(text):
        *_, behind = text.rpartition(f"</{opening[1]}>")
        text = behind if behind.strip() and len(behind) < len(text) else text
    if closing := _CLOSING_TAG.search(text, max(0, len(text) - _LONGEST_TAG)):
        begins = re.search(rf"(?m)^[ \t]*<{re.escape(closing[1])}[\s>]", text)
        text = text[: begins.start()] if begins and text[: begins.start()].strip() else text
    return text.strip()


def without_fences(text: str) -> str:
    """The text with fenced code blanked; a fence that is never closed runs to the end."""
    if "```" not in text and "~~~" not in text:
        return text
    return re.sub(r"(?ms)^[ \t]{0,3}(```|~~~).*?(?:^[ \t]{0,3}\1[^\n]*|\Z)", _blanked, text)


def own_words(text: str) -> str:
    """The person's own words."""
    return without_pasted(text).replace(_BLANK, "")


def pasted_words(text: str) -> str:
    """The words of others in it."""
    kept = without_pasted(text)
    return "".join(text[run.start() : run.end()] for run in _THEIRS.finditer(kept)).strip()


def told_apart(text: str) -> list[tuple[bool, str]]:
    """The text in pieces, each with whether it is other people's; what a machine printed counts as the person's. The
    pieces joined are the text."""
    kept = without_pasted(text, machines=False)
    pieces: list[tuple[bool, str]] = []
    position = 0
    for match in re.finditer(rf"{_BLANK}[{_BLANK}\s]*{_BLANK}|{_BLANK}", kept):
        if match.start() > position:
            pieces.append((False, text[position : match.start()]))
        pieces.append((True, text[match.start() : match.end()]))
        position = match.end()
    if position < len(text):
        pieces.append((False, text[position:]))
    return pieces


def _end_of_head(text: str) -> int:
    """The end of the part of a message that is told apart."""
    if text.count("\n") < _MOST_LINES:
        return min(len(text), _LONGEST)
    return min(_LONGEST, len("\n".join(text.split("\n", _MOST_LINES)[:_MOST_LINES])))


def _mail_begins(text: str) -> int | None:
    """The beginning of a pasted mail that runs to the end; None if there is none."""
    begins = [match.start() for pattern in (_FORWARDED, _IN_ONE_LINE) if (match := pattern.search(text))]
    for match in _WROTE.finditer(text):
        behind = text[match.end() :].lstrip()
        if not behind.startswith(">"):
            begins.append(match.start())
            break
    if _SUBJECT.match(text):
        begins.append(0)
    if (headers := _headers_begin(text)) is not None:
        begins.append(headers)
    return min(begins, default=None)


def _headers_begin(text: str) -> int | None:
    """The position of two adjacent mail headers, one of them a sender or a subject."""
    at = 0
    before: tuple[int, bool] | None = None  # the header line before: where it begins, and whether it is a telling one
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            telling = bool(_TELLING_HEADER.match(line))
            if before is not None and (telling or before[1]):
                return before[0]
            before = (at, telling)
        elif line.strip():
            before = None
        at += len(line)
    return None


def _blanked(match: re.Match[str]) -> str:
    return _blank(match[0])


def _blank(text: str) -> str:
    """Blanks in the place of a text, and its line breaks."""
    return "\n".join(_BLANK * len(line) for line in text.split("\n"))
