"""Texts of others that show by their structure: messages as fields of an export, minutes with speakers, SQL. Pure.

A list of topics ("Backend: we use Redis") is built like minutes, and it is the person's own. So a label counts as a
speaker below the title of a meeting, or where it is a common first name and somebody says "we" or "I".
"""

from __future__ import annotations

from itertools import takewhile

from picomem.text.late_pattern import late_pattern

Span = tuple[int, int]

_FIELD = r"^[ \t]{0,20}(?:-[ \t]{1,4})?[\"']?"
_SENDER_FIELD = late_pattern(
    rf"(?i){_FIELD}(?:from|author|sender|speaker|posted[_ ]by|sent[_ ]by|user_?name|absender|发件人|作者)"
    r"[\"']?\s?[:：][ \t]*[\"']?\S"
)
_TEXT_FIELD = late_pattern(
    rf"(?i){_FIELD}(?:message|text|body|content|msg|comment|reply|nachricht|内容|消息)[\"']?\s?[:：](?:[ \t]|$)"
)
_MOST_FIELDS = 8  # lines of a record between its sender and its text

_MEETING = late_pattern(
    r"(?i)^\W{0,4}(?:(?:\w+['’]?s?[ \t]){0,4}(?:meeting|minutes|stand-?up|sync|retro(?:spective)?|call|discussion|1:1|"
    r"protokoll|besprechung)\b|会议(?:记录|纪要))[^\n:：]{0,60}[:：]?\W{0,4}$"
)
_SAID = late_pattern(
    r"^[ \t]{0,8}(?:[-*•][ \t]{1,3})?\*{0,2}([A-Z\u00c0-\u017f][\w'’-]{1,20})"
    r"(?: [A-Z][\w.'’-]{0,20})?\*{0,2}[:：]\*{0,2}[ \t]+\S"
)
_OF_THEMSELVES = late_pattern(r"(?i)\b(?:we|i|we['’]\w+|i['’]\w+|our|my|let['’]?s)\b")
_TOPICS = frozenset(
    "decision decisions action actions todo todos agenda date time place attendees participants topic topics note "
    "notes summary question questions answer result results next owner goal goals status update updates risk "
    "risks reason deadline project context background rule rules".split()
)
_FIRST_NAMES = frozenset(
    "aaron adam ahmed alex alexander ali alice amy ana andrea andrew anita ann anna anne anton ben bob boris carl "
    "carla carlos carol charlie chen chloe chris clara daniel dave david diana elena eli elias ella emil emily "
    "emma eric erik eva felix fatima frank fred george grace hanna hannah hans helen henry ian ines ivan jack "
    "jakob james jan jane jason jens joe john jonas jose julia karen karl kate kevin lars laura lea lena leo lily "
    "linda lisa liam louis lucas luis luke maria marie mark markus marta martin mary matt max mia michael miguel "
    "mike mohamed natalie nick nina noah nora oliver olga omar oscar patrick paul peter pia priya rachel ravi rob "
    "robert rosa ryan sam samuel sandra sara sarah simon sofia sophie stefan steve susan sven thomas tim tobias "
    "tom tony victor vera wei will william yuki zoe".split()
)

_STATEMENT = late_pattern(
    r"(?ms)^[ \t]{0,20}(?:(?-i:SELECT)\b[^;]{1,600}?\b(?-i:FROM)\b|(?i:insert into|delete from|drop table|alter table|"
    r"create (?:or replace )?(?:unique |temp(?:orary)? )?(?:table|index|view|function|trigger|schema|database))"
    r"[ \t]+[\w\"'`.\[]|"
    r"(?-i:UPDATE)[ \t]+[\w\"'`.\[\]]+\s+(?-i:SET)\b|(?-i:COMMENT ON)\b|(?-i:WITH)[ \t]+\w+[ \t]+(?-i:AS)[ \t]*\()"
)
_END_OF_STATEMENT = late_pattern(r"(?m);[ \t]*(?:--[^\n]*)?$|\n[ \t]*\n")
_NOTES_ABOVE = late_pattern(r"(?:^|(?<=\n))(?:[ \t]*--[^\n]*\n)+\Z")
_MOST_STATEMENTS = 200


def shown_by_structure(text: str) -> list[Span]:
    """The spans of records, minutes and statements of SQL."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    spans = [*_statements(text)] if ";" in text or "FROM" in text else []
    at = 0
    while at < len(lines):
        last = _record_end(lines, at) or _minutes_end(lines, at)
        if last:
            spans.append((starts[at], starts[last]))
        at = last or at + 1
    return spans


def _record_end(lines: list[str], first: int) -> int:
    """The number of the line behind a record that begins with its sender, or behind its paragraph; 0 for none."""
    if not _SENDER_FIELD.match(lines[first]):
        return 0
    fields = takewhile(str.strip, lines[first + 1 : first + _MOST_FIELDS])
    return _paragraph_end(lines, first) if any(map(_TEXT_FIELD.match, fields)) else 0


def _minutes_end(lines: list[str], first: int) -> int:
    """The number of the line behind a paragraph in which people speak; 0 where none do."""
    if (first and lines[first - 1].strip() and not _MEETING.match(lines[first - 1])) or not _SAID.match(lines[first]):
        return 0
    end = _paragraph_end(lines, first)
    said = [match[1].lower() for line in lines[first:end] if (match := _SAID.match(line))]
    if not any(map(_OF_THEMSELVES.search, lines[first:end])) or len(said) * 2 < end - first:
        return 0
    above = next((line for line in reversed(lines[max(0, first - 2) : first]) if line.strip()), "")
    in_meeting = bool(_MEETING.match(above)) and len(set(said)) > 1 and not _TOPICS.intersection(said)
    return end if in_meeting or (len(said) > 1 and _FIRST_NAMES.issuperset(said)) else 0


def _paragraph_end(lines: list[str], first: int) -> int:
    return next((at for at in range(first, len(lines)) if not lines[at].strip()), len(lines))


def _statements(text: str) -> list[Span]:
    """Statements of SQL, with the comments above them."""
    spans: list[Span] = []
    at = 0
    for _ in range(_MOST_STATEMENTS):
        statement = _STATEMENT.search(text, at)
        if statement is None:
            break
        end = _END_OF_STATEMENT.search(text, statement.end())
        at = end.end() if end else len(text)
        above = _NOTES_ABOVE.search(text[max(0, statement.start() - 2_000) : statement.start()])
        spans.append((statement.start() - (len(above[0]) if above else 0), at))
    return spans
