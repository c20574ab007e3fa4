"""Texts of others that show by a line which only a program writes: a forge, a forum, a chat, a mail reader, a model.

"asked May 3 at 10:31", "u/bob · 3 hr. ago", "Sent from my iPhone" or `<|im_start|>` stand in what somebody copied, not
in what they type. A heading, a label such as "Billing:", an appointment ("Dentist, May 3, 10:30"), a date alone and a
name alone may be the person's own, so none of them is such a line.
"""

from __future__ import annotations

from picomem.text.late_pattern import late_pattern

Span = tuple[int, int]

_NAME = r"@?[^\W\d_][\w.'’-]{0,30}(?: [A-Z][\w.'’-]{0,30}){0,2}"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY = (
    rf"(?:{_MONTH} \d{{1,2}}(?:, \d{{4}})?|\d{{1,2}} {_MONTH}(?: \d{{4}})?|\d{{4}}-\d\d-\d\d"
    r"|\d{1,2}/\d{1,2}(?:/\d{2,4})?)"
)
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]m)?"
_UNIT = r"(?:s|m|h|d|w|mo|y|sec|min|hr|second|minute|hour|day|week|month|year)s?"
_AGO = rf"(?:\d{{1,3}}\+? ?{_UNIT}\.? ago|(?:yesterday|today) at {_TIME})"
_DID = r"(?:posted|asked|answered|edited|modified|commented|created|opened|written|published|reported)"
# Where such a line stands, the text runs to the end of the message.
_BEFORE_TEXT = (
    rf"(?-i:[A-Z][\w.'’-]{{1,30}}(?: [A-Z][\w.'’-]{{1,30}}){{1,2}}),? {_DAY},? {_TIME}",
    rf"[\[(]{_DAY},? {_TIME}[\])] {_NAME}",
    rf"@[\w.-]{{2,40}} (?:[·•] )?(?:{_DAY}|{_AGO}|\d{{1,2}}[smhdw])",
    rf"{_DID} by (?:u/)?{_NAME}(?: (?:on |[·•] )?(?:{_DAY}|{_AGO}))?",
    rf"by (?:u/)?{_NAME} on {_DAY}",
    rf"{_DID} (?:on )?(?:{_DAY}|{_AGO})(?: at {_TIME})?",
    rf"(?:r/\w{{1,40}} ?[·•] ?)?(?:posted by )?u/[\w-]{{1,40}} (?:[·•] ?)?(?:{_AGO}|\d{{1,2}}[smhdw])",
    rf"[\w-]{{2,40}} {_AGO} [|·•].{{0,80}}",
    r"(?:you|chatgpt|claude|gemini|copilot|grok|deepseek) said:",
    r"skip to (?:main )?content|page \d{1,4} of \d{1,4}|\[(?:system|assistant|user|developer)\]",
    r"(?:\d\d:)?\d\d:\d\d[.,]\d{3} --> (?:\d\d:)?\d\d:\d\d[.,]\d{3}.{0,60}",
    r"http/[\d.]{1,3} \d{3}\b.{0,40}",
    r"commit [0-9a-f]{7,40}(?: \(.{0,80}\))?\nauthor: .{1,80}",
    r"(?:reporter|assignee|reported by|assigned to)\s?:\s?\S.{0,80}\n"
    r"(?:description|status|priority|type|labels)\s?:.{0,80}",
    r"author: .{1,60}[<‹]\S{1,60}@\S{1,60}[>›]\ndate: .{1,80}",
    r"(?:voice ?mail|sms|text|dm|call|fax|(?:new|incoming) (?:text )?message) "
    r"from (?!now\b|here\b|then\b).{1,60}?:",
    r"#\+begin_(?:quote|example|verse)",
    r".{0,60}\b(?:see|read) (?:the )?(?:\w+ )?below from .{1,60}[.:]",
)
# What stands before such a line is a mail.
_BELOW_MAIL = (
    r"(?:sent|get outlook) (?:from|for) (?:my |the )?\w.{0,40}",
    r"von meinem .{2,30} gesendet",
    r"envoyé (?:de|depuis) mon .{2,30}",
    r"enviado desde mi .{2,30}",
    r"(?:this|the) (?:e-?mail|message)\b.{0,80}\b(?:confidential|privileged)\b.{0,200}"
    r"\b(?:intended|recipient|addressee|disclos).{0,300}",
    r"(?:signed-off-by|co-authored-by|reviewed-by|acked-by): .{1,80}",
    r"unsubscribe ?[|·•].{0,80}|[|·• ]*view (?:this e-?mail )?in (?:your )?browser.{0,80}",
)
_SIGNATURE = late_pattern(
    r"(?im)^[ \t]*(?:--|(?:with )?(?:best|kind|warm|many)(?: regards| wishes)?|regards|sincerely(?: yours)?|"
    r"(?:viele|beste|liebe) grüße|mit freundlichen grüßen|cordialement|saludos)[,.! ]{0,3}\n"
    r"[ \t]*(?-i:[A-ZÀ-Ž])[^\n:]{1,50}\n(?:[ \t]*[^\n:]{2,80}\n?){1,5}\s*\Z"
)
_PROMPT_MARKS = late_pattern(r"<\|[a-z_]{2,40}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>")
_OPENS = late_pattern(rf"(?im)^[ \t]*(?:{'|'.join(_BEFORE_TEXT)})[ \t]*\r?$")
_CLOSES = late_pattern(rf"(?im)^[ \t]*(?:{'|'.join(_BELOW_MAIL)})[ \t]*\r?$")
_LONGEST_SIGNATURE = 600


def shown_by_programs(text: str) -> list[Span]:
    """The spans of texts that such a line begins or ends."""
    spans = [
        (match.start(), len(text)) for pattern in (_OPENS, _PROMPT_MARKS) if (match := pattern.search(text)) is not None
    ]
    closing = _CLOSES.search(text) or _SIGNATURE.search(text, max(0, len(text) - _LONGEST_SIGNATURE))
    return [*spans, (0, closing.end())] if closing else spans
