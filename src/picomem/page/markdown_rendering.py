"""What people and agents write in Markdown, as HTML: paragraphs, lists, headings, quotations, code. Pure.

Only these: no link, no picture and no HTML of the text, because strangers may have written it. What stands between
paragraphs as a line break stays one. A text that is no Markdown looks as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from markupsafe import Markup, escape

from picomem.text.inert_text import for_prompt

# Where a mark begins and ends, until the HTML around it is made. They are for private use, and taken out of the text.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PRIVATE = re.compile(f"[{_OPEN}{_CLOSE}]")
_FENCE = re.compile(r"^\s{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(\S.*)$")
_ITEM = re.compile(r"^\s*(?:[-*+]|(\d{1,3})[.)])\s+(.+)$")
_QUOTE = re.compile(r"^\s{0,3}>\s?(.*)$")
_INLINE = re.compile(r"`([^`]+)`|\*\*(\S(?:[^*]*\S)?)\*\*|(?<![\w*])\*(\S(?:[^*]*\S)?)\*(?![\w*])")
_LINE = re.compile(r"(?m)(^[ \t]*(?:[-*+>#]+|\d{1,3}[.)])[ \t]+)?([^\n]+)")
_FIRST = r"\1"
_TAG = re.compile(r"<(/?)(\w+)>")


def markdown(text: str, marks: Sequence[Sequence[int]] = ()) -> Markup:
    """A text as HTML, with its marks ([start, end) of the text) set off."""
    lines = _marked(_PRIVATE.sub("\ufffd", text), marks).split("\n")
    return Markup(_with_marks("".join(_blocks(lines))))  # _inline and escape have made all of it safe


def _marked(text: str, marks: Sequence[Sequence[int]]) -> str:
    """The text, made inert, with signs where its marks begin and end, within a line and behind the sign of an item."""
    pieces: list[str] = []
    for piece, is_marked in marked_pieces(text, marks):
        pieces.append(_LINE.sub(rf"\1{_OPEN}\2{_CLOSE}", piece) if is_marked else piece)
    return "".join(pieces)


def marked_pieces(text: str, marks: Sequence[Sequence[int]]) -> Iterator[tuple[str, bool]]:
    """The pieces of a text, each made inert by itself so that the marks stand where they should, with whether each is
    marked. `marks` are offsets, [start, end)."""
    place = 0
    for start, end in sorted((mark[0], mark[1]) for mark in marks):
        if start < place or end <= start or end > len(text):
            continue
        if start > place:
            yield for_prompt(text[place:start]), False
        yield for_prompt(text[start:end]), True
        place = end
    if place < len(text):
        yield for_prompt(text[place:]), False


def _blocks(lines: list[str]) -> Iterator[str]:
    place = 0
    while place < len(lines):
        line = lines[place]
        bare = _PRIVATE.sub("", line)
        if fence := _FENCE.match(bare):
            end = next((n for n in range(place + 1, len(lines)) if lines[n].strip().startswith(fence[1])), len(lines))
            code = "\n".join(lines[place + 1 : end])
            yield f'<pre class="code" tabindex="0">{escape(code)}</pre>'
            place = end + 1
        elif heading := _HEADING.match(line):
            yield f"<p><strong>{_inline(heading[1])}</strong></p>"
            place += 1
        elif first := _ITEM.match(line):
            items = list(takewhile(_ITEM.match, _from(lines, place)))
            name = "ol" if first[1] else "ul"
            start = f' start="{first[1]}"' if first[1] else ""
            yield f"<{name}{start}>{''.join(f'<li>{_inline(_item_text(item))}</li>' for item in items)}</{name}>"
            place += len(items)
        elif _QUOTE.match(line):
            quoted = list(takewhile(_QUOTE.match, _from(lines, place)))
            yield f"<blockquote>{'<br>'.join(_inline(_QUOTE.sub(_FIRST, one)) for one in quoted)}</blockquote>"
            place += len(quoted)
        elif bare.strip():
            said = list(takewhile(_is_plain, _from(lines, place)))
            yield f"<p>{'<br>'.join(map(_inline, said))}</p>"
            place += len(said)
        else:
            place += 1


def _from(lines: list[str], place: int) -> Iterator[str]:
    """The lines from a place on, without a copy of them, of which each block would make one."""
    return (lines[number] for number in range(place, len(lines)))


def _item_text(line: str) -> str:
    return _ITEM.sub(r"\2", line)


def _is_plain(line: str) -> bool:
    """Return whether a line goes on with a paragraph."""
    is_blank = not _PRIVATE.sub("", line).strip()
    return not is_blank and not any(shape.match(line) for shape in (_FENCE, _HEADING, _ITEM, _QUOTE))


def _inline(text: str) -> str:
    """A line as HTML. Where a mark and a span would overlap, the span stays as it was written."""
    plain = str(escape(text))
    html = _INLINE.sub(_span, plain)
    has_marks = _OPEN in plain or _CLOSE in plain
    return html if not has_marks or _is_nested(_with_marks(html)) else plain


def _span(match: re.Match[str]) -> str:
    group = match.lastindex or 1
    name = ("code", "strong", "em")[group - 1]
    return f"<{name}>{match[group]}</{name}>"


def _with_marks(html: str) -> str:
    return html.replace(_OPEN, "<mark>").replace(_CLOSE, "</mark>")


def _is_nested(html: str) -> bool:
    opened: list[str] = []
    for closes, name in _TAG.findall(html):
        if not closes:
            opened.append(name)
        elif not opened or opened.pop() != name:
            return False
    return not opened


# The passage of a text that answers: the line with the most marks, and a line before and after it.


def passage_of(text: str, marks: Sequence[Sequence[int]]) -> tuple[str, list[list[int]]]:
    """The passage, with its marks; the whole of a text without marks, or with few lines."""
    starts = [0, *(place.end() for place in re.finditer(r"\n\s*", text))]
    ends = [*starts[1:], len(text)]
    if not marks or len(starts) <= _WHOLE:
        return text, [list(mark) for mark in marks]
    counts = [sum(start <= mark[0] < end for mark in marks) for start, end in zip(starts, ends)]
    best = counts.index(max(counts))
    first, last = max(0, best - 1), min(len(starts) - 1, best + 1)
    begin, finish = starts[first], ends[last]
    within = [[mark[0] - begin, mark[1] - begin] for mark in marks if begin <= mark[0] and mark[1] <= finish]
    before, after = "…\n" if first else "", "\n…" if last < len(starts) - 1 else ""
    shifted = [[start + len(before), end + len(before)] for start, end in within]
    return f"{before}{text[begin:finish].rstrip()}{after}", shifted


_WHOLE = 4  # lines that are shown without a cut
