"""The fixed marks by which hosts show what they, and not the person, wrote in a user's place. Pure.

A host tells the model what happened (a hook spoke, a sub-agent is done, a message was forwarded) as a message of role
user. It marks that by a tag or by a beginning that is the same in each language. Nothing says where a marked text ends,
so it goes on to the end of the message; only a quoted reply has a mark of its own at its end. What stands before it is
the user's. The marks are those of Claude Code, Codex, OpenClaw and nanobot, and count in every message, because a
message of one program is pasted into another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from picomem.text.late_pattern import late_pattern

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
