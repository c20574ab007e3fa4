"""Texts of other people that a message introduces or that show by their shape: a quoted mail, a page, a chat. Pure.

An introduction names what follows as another's text: "Bob wrote:", "Here is the page:", "Can you answer this mail?",
"Summarize:". The text begins behind the introduction and ends

- with its frame, where it has one: a fence, rules, triple quotes, tags, quotation marks, a salutation and its sign-off.
  The last closing mark counts, because the text itself may hold others;
- with the paragraph, where it begins in the line of the introduction, or is what a machine printed;
- with the message in all other cases, because nothing says where it ends.

Without an introduction, a salutation with a sign-off, a chat's lines with names and times, triple quotes, quotes of
several lines, and a paired tag at the start of a line show another's text.
"""

from __future__ import annotations

import re

from picomem.light_dataclass import dataclass, replace
from picomem.text.late_pattern import late_pattern

Span = tuple[int, int]

_LONGEST_LINE = 400  # characters of a line in which an introduction is sought: at its start, and in its last sentence

_LETTER = (
    r"(?:e-?mails?|mails?|messages?|letters?|texts?|sms|dms?|prompts?|posts?|tweets?|articles?|"
    r"comments?|tickets?|chats?|"
    r"conversations?|threads?|newsletters?|transcripts?|statements?|announcements?|memos?|"
    r"invitations?|notifications?|"
    r"repl(?:y|ies)|answers?|responses?|passages?|paragraphs?|quotes?|excerpts?|press release|story|essay|speech|"
    r"nachricht(?:en)?|briefe?s?|beitrags?|artikels?|kommentare?|zitat)(?![\w-])|邮件|郵件|消息|短信|信|文章|帖子|"
    r"评论|提示词|留言|公告|对话|聊天记录|通知|文字|段话"
)
_DOCUMENT = (
    r"(?:readme(?:\.md)?|docs?|documentation|documents?|(?:web ?)?pages?|web ?site|site|blog|wiki|manual|guide|"
    r"spec(?:ification)?|policy|contract|paper|pdf|issue|pull request|changelog|instructions|content|html|"
    r"claude\.md|agents\.md|seite|dokument|anleitung|vertrag)(?![\w-])|网页|文档|页面|说明书?|手册|内容|合同"
)
_MACHINE = (
    r"(?:errors?|output|logs?|stack ?trace|traceback|exception|warnings?|diff|code|snippet|function|query|console|"
    r"terminal|fehler(?:meldung)?|ausgabe|config(?:uration)?)(?![\w-])|报错|错误|日志|输出|代码"
)
_GAP = r"(?:[^\n:：.!?。！？]|\.(?=\w)){0,60}?"
_END_OF_LINE = r"[\s.!?。！？]*$"
_COLON = r"[:：](?![\d/])"

_SAYS = late_pattern(
    r"(?i)(?:\b(?:says?|said|writes?|wrote|states?|stated|reads|repl(?:ies|ied)|posted|commented|"
    r"answered|e?mailed|texted|"
    r"messaged|suggests?|suggested|recommends?|recommended|claims?|claimed|told (?:me|us)|tells (?:me|us)|asked|asks|"
    r"announced|wants? (?:me|us|you) to (?:tell|say|know|remember|ask)|"
    r"sent (?:me|us)|got told|was told|schrieb|schreibt|sagt|sagte|meinte?|lautet|antwortete?|behauptet|"
    r"empfiehlt|steht|heißt es|geschrieben|gesagt|geschickt|dice|dijo|escribió|scrive|scritto|écrit|dit)\b|"
    rf"写道|寫道|写的是|说|說|发来|告诉我|回复|表示|建议|提到|问){_GAP}{_COLON}"
)
_SAYS_AT_END = late_pattern(
    rf"(?i)(?:(?:{_LETTER}|{_DOCUMENT}|{_MACHINE})\W{_GAP}\b(?:says|said|reads|states|sagt|lautet)|"
    r"\b(?:wrote|sent)(?: (?:me|us|this|back|to me)){1,2}|\bschrieb(?: (?:mir|uns))?)[ \t.…]*$"
)
# One of these ends what `_SAYS_AT_END` matches, besides dots. It is by far the slowest pattern.
_LAST_WORDS = (
    "says", "said", "reads", "states", "sagt", "lautet", "me", "us", "this", "back", "schrieb", "mir", "uns"
)  # fmt: skip
_OF_THE_USER = late_pattern(
    r"(?i)(?:\b(?:i|we|i've|we've|you|ich|wir|du)(?: (?:just|already|have|had|also|once|always|habe|"
    r"hatte))?|[我你您]们?)\s*$"
)
_SHOWS = late_pattern(
    r"(?i)(?:\b(?:here(?:'s|’s| is| are)|this is|these are|below|following|got|get|received|found|"
    r"saw|see|read|look(?:ing)? "
    rf"at|check|consider|quoting|from (?!now|here|today)|according to|hier (?:ist|kommt)|"
    rf"folgende\w*)\b|这是|以下|下面)"
    rf"{_GAP}(?:{_LETTER}|{_DOCUMENT}|{_MACHINE}){_GAP}{_COLON}"
)
_NAMED = late_pattern(
    rf"(?i)^\W*(?:(?:the|this|that|an?|his|her|their|die|der|das|diese\w*|seine?|ihre?|su|sa|son|"
    rf"[\w-]+['’]s)\s)?(?:\w+\s){{0,2}}"
    rf"(?:{_LETTER}|{_DOCUMENT}|{_MACHINE})(?:\s(?:content|text|body|inhalt|output|message))?\s*{_COLON}[ \t]*$"
)
_WORK = (
    r"(?:(?:any )?(?:thoughts|opinions|feedback)(?=\W*$)|make this (?:sound|more|less) [\w ]{1,30}|"
    r"(?:turn|convert) this (?:in)?to [\w ]{1,30}|is this (?:an? )?(?:spam|phishing|scam|legit|real)|"
    r"draft an? (?:reply|answer|response)(?=\W*$)|answer|reply to|respond to|summari[sz]e|sum up|translate|review|"
    r"explain|proofread|rewrite|rephrase|reword|"
    r"paraphrase|analy[sz]e|check|fix|improve|rate|read|look at|edit|shorten|correct|classify|polish|"
    r"critique|evaluate|"
    r"assess|comment on|react to|interpret|draft an? (?:reply|answer|response) to|tl;?dr|thoughts on|any thoughts on|"
    r"what do you (?:think|make) (?:of|about)|beantworte|antworte auf|fass|übersetze?|prüfe?|erkläre?|korrigiere?|"
    r"verbessere?|lies|was (?:hältst|denkst|sagst) du (?:von|zu|über)|总结|翻译|概括|解释|润色|修改|"
    r"回复|看看|分析|检查)"
)
_WORK_ABROAD = (
    r"(?:réponds|répondez|traduis|traduisez|résume[sz]?|corrige[sz]?|explique[sz]?|responde|respóndele|traduce|resume|"
    r"explica|rispondi|traduci|riassumi|spiega|responda|traduza|resuma|beantwoord|vertaal|odpowiedz|przetłumacz|"
    r"ответь(?:те)?|переведи(?:те)?|перескажи(?:те)?|объясни(?:те)?|исправь(?:те)?)"
)
_WORK_COLON_ABROAD = late_pattern(
    rf"(?i)^\W*(?:por favor,? |merci de |пожалуйста,? )?{_WORK_ABROAD}\b[^\n:：]{{0,80}}\s?{_COLON}"
)
_WORK_IN_JAPANESE = late_pattern(
    r"(?:返信|翻訳|要約|説明|添削|確認|回答)(?:し|をお願い|して)[^\n:：]{0,20}(?:[:：]\s*$|$)|"
    r"(?:次|以下|下記)の[^\n:：]{1,20}(?:[:：]\s*$|です。?$)"
)
_IN_RUSSIAN = late_pattern(
    r"(?i)\b(?:вот|он|она|они|[\w-]+)\s(?:что\s)?(?:написал[аи]?|пишет|сказал[аи]?|прислал[аи]?|ответил[аи]?|говорит)"
    r"[^\n:：]{0,60}[:：]|\bвот\s(?:письмо|сообщение|текст|страница)[^\n:：]{0,60}[:：]"
)
_COPIED = late_pattern(
    r"(?i)\b(?:copied|pasted|forwarded|quoted|taken|grabbed|kopiert|copié|copiado)(?:(?: this| it| that)? from| aus|"
    rf" von| de(?:sde)?)\b[^\n:：]{{1,60}}{_COLON}"
)
_NOTE_OF_OTHERS = late_pattern(
    r"(?i)^\W*(?:(?:the|a|one|another|his|her|their) )?(?:tool|command|shell|function|api|reviewer|review|code review|"
    r"customer|client|user|boss|manager|support|colleague|teammate|coworker|[\w-]+['’]s)(?:['’]s)? "
    rf"(?:results?|outputs?|responses?|comments?|feedback|notes?|messages?|requests?|wish(?:es)?|instructions?|"
    rf"(?:returned|printed|answered|gave)(?: this| me this)?)\s?{_COLON}"
)
_ISSUE_SECTION = late_pattern(
    r"(?im)^[ \t]*#{0,4}[ \t]*\*{0,2}(?:description|steps to reproduce|reproduction steps|(?:expected|actual|current) "
    r"(?:behaviou?rs?|results?)|acceptance criteria)\*{0,2}[ \t]*:?\*{0,2}[ \t]*$"
)
_TABLE = late_pattern(r"(?m)^[ \t]*\|[^\n]*\n[ \t]*\|[ \t:|-]{3,}\n(?:[ \t]*\|[^\n]*(?:\n|\Z))+")
_FOLLOWS = late_pattern(
    rf"(?i)(?:{_LETTER}|{_DOCUMENT}|{_MACHINE})\s(?:\w+\s){{0,2}}follows\b[.:!]?|\breads? as follows\b[.:]?"
)
_WHAT_OTHERS_SENT = late_pattern(
    r"(?i)^\W*(?:here(?:['’]s| is| are)|this is|below is)\s(?:what|how|all)\s(?!(?:i|we|you)\b)[^\n:.!?]{1,50}\s"
    r"(?:sent|said|says|wrote|writes|told|answered|replied|posted|found|suggests?|suggested|wants?|gave)"
    r"(?:\s(?:me|us|back|today|yesterday|this morning)){0,2}[ \t.…]*$"
)
_TITLE_OF_OTHERS = late_pattern(
    rf"(?i)^\W*(?:(?:my |the |our )?(?:\w+ )?[\w-]+['’]s|his|her|their)\s(?:\w+\s){{0,2}}(?:{_LETTER}|instructions|"
    r"feedback|wishes|e-?mail)\W*$|"
    r"^\W*(?:fyi |msg |message |mail |note |e-?mail |slack |dm )*from (?!now\b|here\b|today\b|then\b|scratch\b|"
    r"tomorrow\b|time\b)(?:the |our |my )?[\w.-]{2,30}(?: [\w.-]{2,30})?\W*$|"
    r"^\W*(?:the )?(?:contents?|output|text|body) of [^\n:：]{1,80}[:：]?[ \t]*$|"
    r"^\W*(?:tool|command|shell|terminal) (?:output|result)\W*$|^\W*(?:review )?(?:comment|reply|message) by "
    r"\S+[^\n]{0,60}$"
)
_FILE_TITLE = late_pattern(
    r"^[ \t]*[`*@#]{0,3}[\w./~-]{1,80}\.[A-Za-z]{1,5}[`*]{0,2}[ \t]*(?P<colon>[:：])?[`*]{0,2}[ \t]*$"
)
_IN_A_FORGE = late_pattern(
    r"(?i)^[ \t]*@?[\w.-]{1,40}(?: \w+)? (?:commented|replied|reviewed|opened|posted|requested changes|approved|wrote|"
    r"left a comment)\b[^\n]{0,80}?(?:\bago\b|\bon \w+ \d+|\byesterday\b|\btoday\b|\blast \w+)[^\n]{0,60}$|"
    r"^[ \t]*\d{1,3} (?:second|minute|hour|day|week|month|year)s? ago[ \t]*$"
)
_SENT_LATELY = late_pattern(
    r"(?i)^\W*(?:(?!(?:i|we|you|it)\b)[\w'’-]+ ){1,3}(?:just |then |also )?(?:texted|answered|replied|"
    r"messaged|emailed|"
    r"commented|posted|wrote(?: this| back)?)\W*$"
)
_NOT_A_SENDER = (
    r"(?!(?:me|us|my|our|now|here|there|today|yesterday|tomorrow|then|scratch|time|above|below|this|that)\b)"
)
_CHANNEL = (
    r"(?:linkedin|slack|discord|telegram|whatsapp|signal|teams|e-?mail|sms|twitter|facebook|instagram|zoom|phone)"
)
_SENDER = late_pattern(
    # "FYI from Bob: …", "[Voicemail from Bob]", "Bob via LinkedIn: …"
    r"(?i)^\W*(?:fyi|msg|message|sms|text|voice ?(?:mail|message)|e-?mail|dm|reminder|request|update|nachricht)\s"
    rf"(?:from|by|von)\s{_NOT_A_SENDER}[^\n:：\]]{{1,60}}(?:[:：](?=\s)|\][ \t]*$)|"
    rf"^\W*forwarded (?:from|by)\s{_NOT_A_SENDER}[^\n:：.!?]{{1,60}}$|"
    rf"^\W*(?!(?:i|we)\b)[^\W\d_][^\n:：.!?]{{0,60}}\s(?:via|on|over)\s{_CHANNEL}[ \t]*[:：](?=\s|$)|"
    # "Bob (@bob) · 3h", "Bob <bob@x.example>"
    r"^[ \t]*[^\n@]{1,40}\(?@[\w.]{1,40}\)?[ \t]*[·•—-][ \t]*(?:\d{1,2}\s?[smhdw]\b|\w{3} \d{1,2})[^\n]{0,20}$|"
    r"^[ \t]*[^\n<>‹›@]{1,60}[<‹][^\s<>‹›@]{1,80}@[^\s<>‹›]{1,80}[>›][ \t]*$|"
    # "@bob commented on this pull request."
    r"^[ \t]*@[\w.-]{1,40} (?:commented|replied|reviewed|wrote|posted|mentioned you)\b[^\n:]{0,60}$"
)
_ROLE = late_pattern(  # of a model's prompt, or of a talk with one
    r"^[ \t]*(?:(?:SYSTEM|HUMAN|Human|ASSISTANT|Assistant)(?: PROMPT| MESSAGE)?[ \t]*:(?=\s|$)|"
    r"#{1,4}[ \t]*(?i:system|assistant|human)(?i: prompt| message)?[ \t]*:?[ \t]*$)"
)
_DAY_ALONE = late_pattern(
    r"(?i)^[ \t]*(?:(?:mon|tue|wed|thu|fri|sat|sun)\w*,? )?(?:[a-z]{3,9}\.? \d{1,2},? \d{4}|"
    r"\d{1,2}\.? [a-z]{3,9}\.? \d{4}|"
    r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?:,? (?:at )?\d{1,2}[:.]\d\d(?:\s?[ap]m)?)?[ \t]*$"
)
_FULL_NAME = late_pattern(r"^[ \t]*[A-Z\u00c0-\u017f][\w'’-]{1,30} [A-Z\u00c0-\u017f][\w.'’-]{1,30}[ \t]*$")
_PROMPT = late_pattern(
    r"^[ \t]*(?:\$|➜|[\w.-]{1,40}@[\w.-]{1,60}:\S{0,80}[$#]|(?:PS )?[A-Z]:\\[^>\n]{0,80}>|>>>|In \[\d{1,4}\]:)[ \t]+\S"
)
_POLITE = (
    r"^\W*(?:(?:please|pls|can you|could you|would you|help me|now|then|and|also|ok|okay|hey|hi|"
    r"hello|bitte|kannst du|"
    r"请|帮我|麻烦|你|能|可以)[\s,，]*){0,5}"
)
_WORK_COLON = late_pattern(rf"(?i){_POLITE}{_WORK}(?![A-Za-z-])(?:[^\n:：.!?。！？]|\.(?=\w)){{0,80}}{_COLON}")
_WORK_ALONE = late_pattern(
    rf"(?i){_POLITE}{_WORK}(?:\s(?:this|that|it|these|the above|the following(?: \w+)?|das|dies|above|zusammen|"
    rf"(?:the )?(?:grammar|spelling)|一下))?(?:\s(?:please|for me|bitte))?"
    rf"(?:\s(?:in)?to \w+)?{_END_OF_LINE}"
)
_POINTS = (
    r"(?:\b(?:this|these|that|those|the (?:following|above)|following|diese[rmns]?|folgende\w*)\b|"
    r"[这此][封条个段篇份]?|以[上下]|上面|下面)"
)
_WORK_ON = late_pattern(rf"(?i){_POLITE}{_WORK}{_GAP}{_POINTS}{_GAP}(?:{_LETTER}){_GAP}{_END_OF_LINE}")
_POINTED_AT = late_pattern(
    rf"(?i){_POINTS}\s?(?:\w+\s){{0,2}}(?:{_LETTER}|{_DOCUMENT}|{_MACHINE}){_GAP}{_COLON}[ \t]*$"
)
_RECEIVED = late_pattern(
    rf"(?i)^\W*(?:i |we )?(?:just )?(?:got|received|found|saw) (?:this|the following|"
    rf"an?)\s(?:\w+\s){{0,2}}(?:{_LETTER})"
    rf"{_GAP}{_END_OF_LINE}"
)
_QUESTION_ON = late_pattern(rf"(?i){_POINTS}\s?(?:\w+\s){{0,2}}(?:{_LETTER})(?:[^\n.!。！]|\.(?=\w)){{0,60}}[?？]\s*$")
_QUESTION_ON_DOCUMENT = late_pattern(
    rf"(?i){_POINTS}\s?(?:\w+\s){{0,2}}(?:{_DOCUMENT})(?:[^\n.!。！]|\.(?=\w)){{0,60}}[?？]\s*$"
)
_ASKS_TO_REMEMBER = late_pattern(
    r"(?i)\b(?:remember|memori[sz]e|forget|keep in mind|bear in mind|note|from now on|always|never|"
    r"merk|always|immer)\b|记|忘|以后"
)
_ELSEWHERE = late_pattern(
    r"(?i)https?://|\b[\w-]+/[\w./-]+|\b[\w-]+\.(?:md|txt|py|pdf|html?|eml|docx?|json|ya?ml|tsx?|js|rs|go)\b"
)

_ONE_WORD = late_pattern(r"[a-z]+\. [A-Z]")  # "Bob wrote: nothing. …" reports, and quotes no text

_ASSISTANTS = (
    r"(?:claude|picobot|assistant|there|bot|chatgpt|gpt|codex|openclaw|agent|copilot|gemini|ai|computer|buddy|again)"
)
_SALUTATION = late_pattern(
    r"(?i)^[ \t]*(?:(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte[rs]?|"
    r"guten (?:tag|morgen)|moin|salut|bonjour|ch(?:er|ère)|hola|estimad[oa]|ciao|gentile|(?=(?:all|team|everyone|"
    r"everybody|folks|colleagues)\b))"
    rf"(?P<name> (?!{_ASSISTANTS}\b)[\w .'’&-]{{1,40}}|(?:all|team|everyone|everybody|folks|"
    rf"colleagues)(?=\s*[,!:—–-]))?\s*[,!:，：—–-]?|(?P<chinese>(?:尊敬的|"
    rf"亲爱的)\S{{1,12}}|\S{{1,6}}(?:你好|您好))[，,：:！!]?)[ \t]*$"
)
_SIGN_OFF = late_pattern(
    r"(?i)^[ \t]*(?:(?:thx|ty|tx|br|rgds)\b|(?:with )?(?:best|kind|warm|many)?(?: ?regards)|best|cheers|sincerely(?: "
    r"yours)?|"
    r"yours(?: \w+)?|thanks"
    r"(?: a lot| so much)?|many thanks|thank you|(?:best|all the best|warm) ?(?:wishes)?|take care|love|viele grüße|"
    r"(?:liebe|beste|schöne|herzliche) grüße|mit freundlichen grüßen|lg|vg|mfg|gruß|cordialement|saludos|"
    r"cordiali saluti|此致|祝好|敬上|顺祝\S{1,6})[,.!，。]?(?:[ \t]+[\w.]+){0,2}[ \t]*$|"
    r"^[ \t]*(?:--|—|–|-(?=[ \t]?[^\W\d_][\w.'’-]*[ \t]*\Z))[ \t]?[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}[ \t]*$"
)

# A name alone, with a title below it, ends a letter that has a salutation.
_SIGNATURE = late_pattern(r"^[ \t]*[A-Z\u00c0-\u017f][\w.'’-]{1,30}(?: [A-Z\u00c0-\u017f][\w.'’-]{0,30}){0,2}[ \t]*$")

# A letter in any language: a greeting whose last word is a name, and a sign-off with a comma above a name.
_GREETING = late_pattern(
    rf"^[ \t]*[^\W\d_][^\n,:：!.?\d]{{0,30}}[ ,]\s?(?!(?i:{_ASSISTANTS})\b)"
    r"(?=[^\W\d_])(?![a-z])[\w'’-]{2,30}\s?[,!:：][ \t]*$"
)
_CLOSING = late_pattern(r"^[ \t]*[^\W\d_](?:[^\n,:：!.?\d]{1,40}),[ \t]*$")
_NAME_BELOW = late_pattern(r"^[ \t]*(?=[^\W\d_])(?![a-z])[\w'’-]{2,30}(?: [\w.'’-]{1,30}){0,2}[ \t]*$")

_TIME = r"\d{1,2}[:.]\d\d(?::\d\d)?(?:\s?(?i:[ap]\.?m\.?))?"
_DATE = r"(?:(?:today|yesterday|heute|gestern|on |at |um |[\d./-]{5,10}|\d{1,2} \w{3,9}(?: \d{4})?)[\s,]*){0,3}"
_NAME = (
    r"[<‹*@]{0,3}(?!Remember\b|"
    r"At\b)[A-Z\u00c0-\u017f\u3400-\u9fff][\w.'’-]{0,30}(?: [A-Z(][\w.'’()-]{0,30}){0,2}[>›*]{0,2}"
)
_CHAT_LINE = late_pattern(
    rf"^[ \t]*(?:[\[(]?(?i:{_DATE})"
    rf"{_TIME}[\])]?[ \t]*[-–—|]?[ \t]*[<‹*@]{{0,3}}[^\W\d_][\w .'’-]{{0,30}}[>›*]{{0,2}}[ \t]*[:：>]|"
    rf"{_NAME},?[ \t]*[\[(](?i:{_DATE}){_TIME}[\])][ \t]*[:：]|{_NAME}[ \t]+{_TIME}[ \t]*[:：]|"
    rf"[<‹]@?[\w-]{{2,20}}[>›][ \t]+\S(?!.*[<‹]/))"
)
_CHAT_HEADER = late_pattern(
    rf"^[ \t]*{_NAME}(?:[ \t]+APP)?,?[ \t]*[-–—|•·]?[ \t]*[\[(]?(?i:{_DATE}){_TIME}[\])]?[ \t]*[:：]?[ \t]*$|"
    rf"^[ \t]*@?[a-z][\w.-]{{1,30}}(?:[ \t]+[-–—•·][ \t]*|[ \t]+)(?i:{_DATE})\d{{1,2}}[:.]\d\d\s?(?i:[ap]\.?m\.?)[ "
    rf"\t]*$|"
    rf"^[ \t]*@?[a-z][\w.-]{{1,30}}[ \t]+[—–][ \t]+(?i:today|yesterday|[\d./-]{{5,10}})(?i: at)?[ \t,]+{_TIME}[ \t]*$|"
    rf"^[ \t]*[^\W\d_][\w .'’-]{{0,40}},[ \t]*\[[^\]\n]{{0,30}}{_TIME}\][ \t]*[:：]?[ \t]*$|"
    rf"^[ \t]*[\[(](?i:{_DATE}){_TIME}[\])][ \t]+@?[^\W\d_][\w.'’-]{{0,30}}(?: [A-Z][\w.'’-]{{0,30}})?[ \t]*$"
)

# “Meeting — 10:30” is built like the head of a chat's message, but it is what a person writes above a plan of theirs.
_APPOINTMENT = late_pattern(
    r"(?i)^[ \t]*(?:[\w'’&/-]{1,20} ){0,3}(?:(?:meetings?|stand-?up|sync|calls?|catch-?up|kick-?off|lunch|dinner|"
    r"breakfast|brunch|coffee|flight|train|bus|ferry|taxi|dentist|doctor|appointment|interview|review|retro(?:spective)?|planning|"
    r"demo|deadline|class|lesson|lecture|seminar|workshop|training|exam|gym|yoga|practice|rehearsal|concert|movie|party|"
    r"pick-?up|drop-?off|check-?(?:in|out)|departure|arrival|boarding|delivery|release|deploy(?:ment)?|maintenance|"
    r"reminder|alarm|wake-?up|bedtime|school|match|game|webinar|conference|"
    r"besprechung|termin|treffen|mittagessen|abendessen|zahnarzt|arzt|flug|abflug|ankunft|zug|abgabe|prüfung|unterricht|"
    r"réunion|déjeuner|dîner|vol|train|dentiste|rendez-vous|reunión|almuerzo|cena|cita|vuelo|tren|reunião|almoço|jantar|"
    r"voo|consulta|riunione|pranzo|volo|встреча|созвон|обед|рейс)(?![\w-])|会议|开会|例会|午饭|午餐|晚饭|航班|火车|高铁|牙医|预约|面试|"
    r"考试|上课|会議|打ち合わせ)"
    rf"(?: [\w'’/-]{{1,20}}){{0,2}},?[ \t]*[-–—|•·@:：,]?[ \t]*(?i:{_DATE}){_TIME}[ \t]*(?:[:：].*)?$"
)
_SPEAKER = late_pattern(r"^[ \t]*\*{0,2}([^\W\d_][\w.'’-]{0,30}(?: [\w.'’-]{1,30})?)\*{0,2}[:：]\*{0,2}[ \t]+\S")
_TAG_WITH_NAME = late_pattern(
    r"(?i)[<‹]\s?([a-z][\w:-]{1,40})\s[^<>‹›\n]{0,200}?\b(?:name|mime|path|file|filename|uri|url|href|server|source|"
    r"from|"
    r"user|id)\s?=[^<>‹›\n]{0,200}[>›]"
)
_TAG = late_pattern(r"(?m)^[ \t]*[<‹]\s?([A-Za-z][\w:-]{1,40})(?:\s[^<>‹›\n]{0,200})?[>›]")
# No element of HTML that stands in a line has such a name; the blocks of hosts and agents do.
_TAG_OF_PROGRAM = late_pattern(r"[<‹]\s?([A-Za-z]+[-_][\w:-]{1,40})(?:\s[^<>‹›\n]{0,200})?[>›]")
_TRIPLE = late_pattern(r"(?s)(\"{3}|'{3}).*\1")
_LONG_QUOTE = late_pattern(
    r"(?m)^[ \t]*(?:“[^“”]{1,4000}”|„[^„“”]{1,4000}[“”]|«[^«»]{1,4000}»|「[^「」]{1,4000}」|『[^『』]{1,4000}』)"
)
_RULE = late_pattern(r"[ \t]*([-=*_~#])(?:[ \t]?\1){2,}[^\n]{0,40}$")
_QUOTE_ENDS = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«", "「": "」", "『": "』", "'": "'"}


@dataclass(frozen=True, slots=True)
class _IntroductionLine:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class _Introduction:
    """The end of the introduction in its line, and the kind of text that it announces."""

    end: int
    machine: bool = False
    backward: bool = False  # it may speak of what stands before it


def introduced(text: str, *, machines: bool = True) -> list[Span]:
    """The spans of other people's texts, in any order; they may overlap. Without `machines` what a machine printed is
    left out where it is introduced as such."""
    lines = _lines(text)
    spans = [match.span() for match in _TRIPLE.finditer(text)] if '"""' in text or "'''" in text else []
    spans += [match.span() for match in _LONG_QUOTE.finditer(text) if "\n" in match[0].strip()]
    spans += [match.span() for match in _TABLE.finditer(text)] if "|" in text else []
    spans += [(section.start(), len(text)) for section in _ISSUE_SECTION.finditer(text)][:1]
    spans += _tagged(text)
    spans += _letters(lines)
    position = 0
    while position < len(lines):
        span = _chat(lines, position) or _behind(text, lines, position, machines=machines)
        if span is None:
            position += 1
            continue
        spans.append(span)
        while position < len(lines) and lines[position].end <= span[1]:
            position += 1
        if span[0] == 0:
            break
    return spans


def _lines(text: str) -> list[_IntroductionLine]:
    lines: list[_IntroductionLine] = []
    start = 0
    for line in text.split("\n"):
        lines.append(_IntroductionLine(start, line))
        start += len(line) + 1
    return lines


def _tagged(text: str) -> list[Span]:
    """Blocks in paired tags that begin a line, or that name what they hold; the last closing tag of the name ends the
    block."""
    spans: list[Span] = []
    at = 0
    for _ in range(50):
        openings = (pattern.search(text, at) for pattern in (_TAG, _TAG_WITH_NAME, _TAG_OF_PROGRAM))
        opening = min((match for match in openings if match), key=lambda match: match.start(), default=None)
        if opening is None:
            break
        name = re.escape(opening[1])
        closing = [match.end() for match in re.finditer(rf"[<‹]\s?/\s?{name}\s?[>›]", text[opening.end() :])]
        at = opening.end()
        if closing:
            at = opening.end() + closing[-1]
            spans.append((opening.start(), at))
    return spans


def _letters(lines: list[_IntroductionLine]) -> list[Span]:
    """Letters to somebody with a name, from the salutation to the last sign-off."""
    for position, line in enumerate(lines):
        if span := _letter_abroad(lines, position):
            return [span]
        salutation = _SALUTATION.match(line.text[:80]) if len(line.text) <= 80 else None
        if salutation is None:
            continue
        end = _letter_end(lines, position)
        if end is None:
            return []
        formal = any(_SIGN_OFF.match(other.text) and "hank" not in other.text for other in lines[position + 1 :])
        named = salutation["name"] or salutation["chinese"]
        is_to_assistant = re.search(rf"(?i)\b{_ASSISTANTS}\b", line.text) is not None
        return [(line.start, end)] if named or (formal and not is_to_assistant) else []
    return []


def _letter_abroad(lines: list[_IntroductionLine], position: int) -> Span | None:
    """A letter that begins here and ends with the message, in whatever language."""
    if not 0 < position + 1 < len(lines) or lines[position + 1].text.strip():
        return None
    if len(lines[position].text) > 80 or not _GREETING.match(lines[position].text):
        return None
    filled = [line.text for line in lines[position + 1 :] if line.text.strip()]
    is_signed = len(filled) > 2 and _CLOSING.match(filled[-2][:80]) and _NAME_BELOW.match(filled[-1][:100])
    return (lines[position].start, lines[-1].end) if is_signed else None


def _letter_end(lines: list[_IntroductionLine], first: int) -> int | None:
    """The end of the last sign-off after a line, with its name and postscripts; None if there is none."""
    last = next((at for at in range(len(lines) - 1, first, -1) if _SIGN_OFF.match(lines[at].text[:120])), None)
    if last is None:
        return _signed_end(lines, first)
    if last + 2 < len(lines) and not lines[last + 1].text.strip() and len(lines[last + 2].text.split()) <= 3:
        last += 2  # the name stands below a blank line
    last = _paragraph(lines, last)
    while (after := _next_words(lines, last + 1)) is not None and re.match(r"(?i)\s*p\.? ?s\b", lines[after].text):
        last = _paragraph(lines, after)
    return lines[last].end


def _signed_end(lines: list[_IntroductionLine], first: int) -> int | None:
    """Return where a letter ends that has a name alone for its last paragraph, or a name and a title."""
    filled = [at for at in range(first + 1, len(lines)) if lines[at].text.strip()]
    if not filled:
        return None
    start = filled[-1]
    while start - 1 in filled and lines[start - 1].text.strip():
        start -= 1
    is_signature = start - 1 > first and filled[-1] - start <= 2 and _SIGNATURE.match(lines[start].text[:120])
    return lines[filled[-1]].end if is_signature else None


def _chat(lines: list[_IntroductionLine], position: int) -> Span | None:
    """The words of others in a chat, if a line of its log begins here."""
    line = lines[position]
    head = line.text[:_LONGEST_LINE]
    if _APPOINTMENT.match(head):
        return None
    if _CHAT_LINE.match(head):
        return line.start, lines[_paragraph(lines, position)].end
    if (position == 0 or not lines[position - 1].text.strip()) and _SPEAKER.match(head):
        last = _paragraph(lines, position)
        speeches = [_SPEAKER.match(other.text[:_LONGEST_LINE]) for other in lines[position : last + 1]]
        speakers = [speech[1] for speech in speeches if speech is not None]
        if 1 < len(set(speakers)) < len(speakers):  # a list of names and values names each once
            return line.start, lines[last].end
    following = lines[position + 1].text if position + 1 < len(lines) else ""
    if _ROLE.match(head):
        return line.start, lines[-1].end
    if _FULL_NAME.match(head) and _DAY_ALONE.match(following[:_LONGEST_LINE]):
        return line.start, lines[-1].end
    if following.strip() and _CHAT_HEADER.match(head) and not _CHAT_HEADER.match(following[:_LONGEST_LINE]):
        return line.start, lines[-1].end
    return None


def _behind(text: str, lines: list[_IntroductionLine], position: int, *, machines: bool) -> Span | None:
    """The text that the line at `position` introduces."""
    line = lines[position]
    introduction = _introduction(
        line.text, blank_follows=position + 1 < len(lines) and not lines[position + 1].text.strip()
    )
    if introduction is None or (introduction.machine and not machines):
        return None
    rest = line.text[introduction.end :].strip()
    if rest:
        if (_ELSEWHERE.match(rest) and len(rest.split()) == 1) or _ONE_WORD.match(rest):
            return None
        begin = line.start + introduction.end
        framed = _frame_end(
            text,
            lines,
            position,
            begin + len(line.text[introduction.end :]) - len(line.text[introduction.end :].lstrip()),
        )
        return begin, framed or lines[_paragraph(lines, position)].end
    first = _next_words(lines, position + 1)
    if first is None:
        return (0, line.start) if introduction.backward and position > 0 else None
    begin = lines[first].start
    if lines[first].text.lstrip().startswith(">"):
        return None
    end = _frame_end(text, lines, first, begin)
    if end is None:
        end = lines[_paragraph(lines, first)].end if introduction.machine else lines[-1].end
    return begin, max(end, begin + 1)


_INTRODUCTIONS = (
    _NAMED, _WORK_COLON, _SHOWS, _POINTED_AT, _WORK_COLON_ABROAD, _IN_RUSSIAN, _FOLLOWS, _COPIED, _NOTE_OF_OTHERS
)  # fmt: skip


def _introduction(line: str, *, blank_follows: bool) -> _Introduction | None:
    head = line[:_LONGEST_LINE]
    if not head.strip():
        return None
    has_colon = ":" in head or "：" in head  # without one there is nothing to search for with most patterns
    if has_colon and (match := _SAYS.search(head)) and not _OF_THE_USER.search(head[: match.start()]):
        before = head[: match.start()]
        if not (_ASKS_TO_REMEMBER.search(before) and head[match.end() :].strip()):
            return _Introduction(match.end(), machine=_is_of_machine(before))
    if sender := _SENDER.match(head):
        return _Introduction(sender.end())
    follows = "follows" in head.lower()
    for pattern in _INTRODUCTIONS:
        match = pattern.search(head) if (follows if pattern is _FOLLOWS else has_colon) else None
        if match and not _ASKS_TO_REMEMBER.search(match[0]):
            return _Introduction(match.end(), machine=_is_of_machine(match[0]))
    if len(line) > _LONGEST_LINE:
        last = re.split(r"(?<=[.!?。！？])\s+", line[-_LONGEST_LINE:].rstrip())[-1]
        start = len(line.rstrip()) - len(last)
        introduction = _introduction(line[start:], blank_follows=blank_follows) if len(last) < _LONGEST_LINE else None
        return introduction and replace(introduction, end=introduction.end + start)
    sentence = re.split(r"(?<=[.!?。！？])\s+", head.strip())[-1]
    if has_colon and _NAMED.search(sentence) and not _ASKS_TO_REMEMBER.search(sentence):
        return _Introduction(len(line), machine=_is_of_machine(sentence))
    if _PROMPT.match(head):
        return _Introduction(len(line), machine=True)
    file = _FILE_TITLE.match(head)
    if (file and (file["colon"] or (blank_follows and "@" in head))) or _IN_A_FORGE.match(head):
        return _Introduction(len(line))
    if any(pattern.match(head) for pattern in (_WHAT_OTHERS_SENT, _TITLE_OF_OTHERS, _SENT_LATELY)):
        return _Introduction(len(line))
    if not head.isascii() and _WORK_IN_JAPANESE.search(head):
        return _Introduction(len(line))
    introduction = _at_end(sentence, len(line), blank_follows=blank_follows)
    return None if introduction is None or _ELSEWHERE.search(head) else introduction


def _at_end(sentence: str, end: int, *, blank_follows: bool) -> _Introduction | None:
    """The introduction that the last sentence of a line is, if the text is not elsewhere."""
    may_say = sentence.rstrip(" \t.…").casefold().endswith(_LAST_WORDS)
    if may_say and _SAYS_AT_END.search(sentence) and not _OF_THE_USER.search(sentence.rsplit(" ", 2)[0]):
        return _Introduction(end)
    if _WORK_ALONE.search(sentence) or _WORK_ON.search(sentence) or _QUESTION_ON.search(sentence):
        return _Introduction(end, backward=True)
    if blank_follows and (_QUESTION_ON_DOCUMENT.search(sentence) or _RECEIVED.search(sentence)):
        return _Introduction(end)
    return None


def _is_of_machine(words: str) -> bool:
    return re.search(_MACHINE, words, re.IGNORECASE) is not None


def _frame_end(text: str, lines: list[_IntroductionLine], first: int, begin: int) -> int | None:
    """The last closing position of the frame that opens at `begin`; None if there is no frame."""
    opening = text[begin : lines[first].end].strip()
    after = range(len(lines) - 1, first, -1)
    for mark in ("```", "~~~"):
        if opening.startswith(mark):
            closing = (lines[at].end for at in after if lines[at].text.strip() == mark)
            return next(closing, lines[-1].end)
    if rule := _RULE.match(opening):
        closing = (lines[at].end for at in after if (end := _RULE.match(lines[at].text)) and end[1] == rule[1])
        return next(closing, lines[-1].end)
    if opening[:3] in ('"""', "'''"):
        return begin + max(text[begin:].rfind(opening[:3]) + 3, 3)
    if closes := _QUOTE_ENDS.get(opening[:1]):
        if opening.count(closes) >= 1 + (closes == opening[0]):
            return None
        ends = (lines[at].end for at in after if lines[at].text.rstrip(" .!,").endswith(closes))
        return next(ends, None)
    if tag := _TAG.match(text[begin:]):
        ends = [match.end() for match in re.finditer(rf"[<‹]\s?/\s?{re.escape(tag[1])}\s?[>›]", text[begin:])]
        return begin + ends[-1] if ends else None
    salutation = _SALUTATION.match(opening[:80])
    if salutation and (salutation["name"] or not opening[-1].isalnum()):
        return _letter_end(lines, first) or lines[-1].end
    return None


def _paragraph(lines: list[_IntroductionLine], position: int) -> int:
    """The last line of the paragraph."""
    while position + 1 < len(lines) and lines[position + 1].text.strip():
        position += 1
    return position


def _next_words(lines: list[_IntroductionLine], position: int) -> int | None:
    return next((at for at in range(position, len(lines)) if lines[at].text.strip()), None)
