"""The cues: the words by which a user asks, in passing or outright, that something be remembered.

`CUES` is a table, and its order matters: a sentence gives at most one candidate, by the first cue that fits,
so what is said in so many words stands before what only sounds like it. A cue is a pattern, what it keeps of
the sentence, and where it counts: at the sentence's start after words of politeness (`FILLER`), or, if it is a
strong one, also after a joint ("…, and remember that …"), unless what stands before it is a `SPOILER`. All
patterns are held against the shadow of a text (see `requests`), without regard to case; they are compiled
where they are used, so that an import costs next to nothing, and hold no nested repeats.
"""

from __future__ import annotations

from enum import Enum, auto

from picomem.light_dataclass import dataclass
from picomem.records.kinds import Kind


class Keep(Enum):
    """The part of a sentence that becomes the content. A group `from` in the pattern says where it starts, whatever
    this says."""

    AFTER = auto()  # what follows the cue
    FROM = auto()  # the cue and what follows
    LED = auto()  # the cue, a comma, and what follows
    WHOLE = auto()  # the sentence
    BEFORE = auto()  # what stands before the cue, or the sentence before


@dataclass(frozen=True, slots=True)
class Cue:
    """One way to ask: the words (`pattern`), what of the sentence is kept, and where the words count.

    `gates` are words, in lower case, of which each match of the pattern holds one: a text without them is not looked
    at with the pattern, which costs a thousand times as much.
    """

    gates: tuple[str, ...]
    pattern: str
    keep: Keep
    kind: Kind | None = None  # None: what the content says
    within: str | None = None  # what must precede it inside a sentence; None: it counts at the start only
    asks: bool = False  # it asks explicitly that something be remembered
    never: str = ""  # what follows must not begin so


# What may stand between the start of a sentence and a cue.
FILLER = (
    r"(?:(?:please|pls|and|also|oh|ok|okay|(?:hey|hi|hello)(?: there)?|so|but|then|well|btw|by the way|actually|"
    r"yes|yeah|no|great|cool|thanks|thank you|ps|important|reminder|one more thing|another thing|"
    r"just so (?:you|we) know|just|right|alright|sure|perfect|now|fyi|"
    r"because|since|picobot|claude|additionally|finally|first|generally|in general|"
    r"honestly|personally|basically|frankly|tbh|to be honest|for me|heads up|"
    r"ideally)\b[\s,.:!;—–-]*|(?:另外|对了|顺便(?:说一下|提一下)?|好的?|嗯|请|麻烦|还有|那么|哦|你好|您好|嗨|"
    r"大家好|谢谢|最后|而且|所以)[\s，,。：:！!、]*){0,6}"
)
_JOINT = (
    r"(?:[,;，；、—–(]\s*|\s-+\s+|\b(?:and|so|but|also|then|because|since)\s+)(?:(?:and|so|but|also|then|please|"
    r"just|另外|请|那|而且|所以)[\s,，]*){0,3}"
)
_WORD = r"(?<!\w)"
_ANYWHERE = ""

# Before a cue within a sentence, these make it something else than a request.
SPOILER = (
    r"\b(?:if|suppose|supposing|imagine|unless|whether|pretend|when|said|says?|saying|told|tells?|asked|asks|"
    r"wrote|writes|mentioned|claims?|suggested|suggests|according to|thinks?|believes?|doesn't|didn't|don't|"
    r"do not|can't|cannot|couldn't|won't|no need|not|does|did|why|how|what|who|means?|called|named|prints?|"
    r"reads)\b|如果|要是|假如|假设|[他她]们?说|说过|说的|告诉|文档|听说|不用|不必|不需要|没|吗|还|什么|据说|问|"
    r"[别不]要?$"
)

# What does not stand alone, and what points at a time instead of saying something.
_DEICTIC = (
    r"(?:(?:that|this|it|these|those|them|you|me|us|him|her|either|both|neither|one|whatever|what|how|"
    r"yours?)(?: please)?[\s,.!]*(?:$|(?:and|then|for|in|as|if|when|here|instead|better|first)\b)|not\b|"
    r"to not\b|the (?:same|(?:first|second|third|last|latter|former|other|left|right|top|bottom|new|old|blue|"
    r"red|green) (?:one|option|approach|version|idea)|latter|former)\b|(?:leave|keep|do|use|have|try|see|fix|"
    r"drop|skip) (?:it|this|that|these|those)\b|(?:this|that) (?:one|approach|option|version|idea|plan)\b|"
    r"(?:option|choice|approach|number|variant|plan) \w{1,2}\b)"
)
_DEICTIC_ZH = r"(?:(?:你的?)?(?:这|那|前者|后者|上面|下面)|它|第[一二三四五\d]|你)"
_MOMENT = (
    r"(?:that |the )?(?:time|day|one|moment|meeting|episode|thing)\b|(?:when|how|what|who|where|why|which|if)\b|"
    r"(?:this|that|it|me|us|them|him)\b[\s.!]*$"
)

_POLITE = (
    r"(?:(?:can|could|would|will) you (?:please )?|(?:you should|you (?:need|have) to|you must|i (?:want|need|"
    r"'d like) you to|i'd like you to|make sure (?:to|you)|"
    r"it's (?:very |really )?important (?:that you|to)|(?:one|another) thing to) )?"
)
# Where a sentence turns from what is to be remembered to something else that is wanted.
ASIDE = (
    r"\s*[,;—–]\s*(?:by the way|btw|anyway|meanwhile|on another note)\b|"
    r"(?:\s*[,;—–]\s*|\s+(?=and\b))(?:(?:and|also|now|then|but|so),? ){0,3}(?:please )?"
    r"(?:can|could|would|will) you "
    r"(?!(?:please |also ){0,2}(?:remember|memori[sz]e|keep|make|take|save|store|note|add)\b)|"
    r"\s*[,;—–]\s*(?:(?:and|but) )?(?:also|now)(?:,| please)? (?:please|what|how|why|who|where|when)\b|"
    r"\s*[,;—–]\s*(?:and |but )?now (?:please )?(?:fix|run|write|add|make|show|tell|do|go|continue|let's)\b|"
    r"[,，;；]\s*(?:另外|顺便|对了|还有)?[，,]?(?:请|麻烦|你)?(?:帮我|能不能|可以帮|看一下)"
)
_REMEMBER = (
    r"(?:remember|memori[sz]e|don't (?:ever )?forget|do not forget|never forget|keep in mind|bear in mind|"
    r"make a (?:mental )?note|take note)"
)
_TO_REMEMBER = ("remember", "memori", "forget", "in mind", "note")
_REMEMBER_ABROAD = (
    r"(?:bitte )?(?:merke? dir|behalte? (?:dir|im (?:kopf|gedächtnis))|notiere?(?: dir)?|speichere?(?: dir)?|"
    r"schreibe? dir auf|denke? daran|vergiss nicht|halte? fest|erinnere? dich(?: daran)?)|"
    r"(?:notiz|merkzettel) (?:für später|an dich|für dich)|(?:por favor,? )?(?:recuerda|acuérdate|no olvides|apunta|"
    r"anota)|souviens-toi|rappelle-toi|n'oublie pas|retiens"
)
_TO_REMEMBER_ABROAD = (
    "merk", "behalt", "notier", "notiz", "speicher", "schreib", "denk", "vergiss", "halt", "erinner", "recuerda",
    "acuérdate", "olvides", "apunta", "anota", "souviens", "rappelle", "oublie", "retiens",
)  # fmt: skip
_NOT_AN_ORDER = (  # after "always" or "never"
    r"(?:mind|been|seen|had|heard|did|knew|known|thought|again|gonna|a|an|the|in|on|at|too|so|not|is|was|are|"
    r"were|has|ever|good|nice|better|best|worth|fun|hard|easy|great|happy|glad|lovely|forget|said|saw|got|felt|"
    r"before|there|here|this|that|these|those|i|we|you|they|he|she|it|my|came|went|ran|took|made|gets|works|"
    r"fails)\b|[a-z]{2,20}ing\b(?<!bring)(?<!ping)(?<!string)|"
    r"[a-z]{2,20}ed\b(?<!need)(?<!embed)(?<!feed)(?<!seed)(?<!proceed)"
)
_NOT_A_NAME = (  # after "call me"
    r"(?:when|later|back|if|at|on|in|tomorrow|today|tonight|once|after|before|a|an|the|crazy|maybe|now|again|"
    r"old|out|names|asap|anytime|as|and|up|for|to|about|from|every|sometime|soon)\b"
)

_SINCE_NOW = ("from now on", "from here on", "from today", "going forward", "starting ", "henceforth")

# In the order in which they are tried; the first that fits a sentence decides.
CUES = (
    # Explicit requests. "Remember to …" is a reminder, unless it is for always.
    Cue(
        _TO_REMEMBER,
        rf"{_POLITE}{_REMEMBER} to (?!.{{0,200}}\b(?:today|tonight|tomorrow)\b)(?=(?:always|never)\b|"
        rf".{{0,120}}\b(?:every|each|whenever|before you|after you|from now"
        r" on)\b)",
        Keep.AFTER,
        Kind.INSTRUCTION,
        within=_JOINT,
        asks=True,
    ),
    Cue(_TO_REMEMBER, rf"{_POLITE}{_REMEMBER} that,? ", Keep.AFTER, within=_JOINT, asks=True, never=_MOMENT),
    Cue(
        (*_TO_REMEMBER, "for the record", "jot", "write", "save", "keep", "store", "for the future"),
        rf"{_POLITE}(?:{_REMEMBER}|note to self|for the (?:record|future)|(?:jot|write|save|keep|store)"
        r"(?= this| that| the following| a note)(?: a note of)?|make a note of|take note of)"
        r"(?: this| that| the following)?(?: down)?(?: for (?:later|the future|next time))? ?[:：,] ?",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    Cue(
        ("note", "reminder"),
        r"(?:notes?|reminder) (?:to (?:you|yourself)|for (?:you|later|next time|the (?:future|record)|future "
        r"(?:reference|sessions?))) ?[:：] ?",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    Cue(
        _TO_REMEMBER_ABROAD,
        rf"(?:{_REMEMBER_ABROAD})(?:,? bitte| por favor| stp| s'il te plaît)?"
        r"(?: (?:folgendes|das|für später|für die zukunft)){0,2}(?:[:：] ?|,? (?:dass|que|qu') ?)",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
        never=_MOMENT,
    ),
    Cue(
        _TO_REMEMBER,
        rf"{_POLITE}{_REMEMBER},? (?=(?:i|i'm|i've|my|we|we're|our|all|every|always|never|these [\w ]{{1,40}}:|"
        rf"the \w+"
        r"(?: \w+){0,4} (?:is|are|was|uses?|runs?|has|lives?|needs?|must|can|can't|will|should|expires?|starts?|"
        r"ends?|takes?|belongs?|opens?|closes?|comes?|goes))(?:\s|$))",
        Keep.AFTER,
        asks=True,
        never=_MOMENT,
    ),
    Cue(
        ("memor",),
        rf"{_POLITE}(?:save|store|add|commit|put|write)(?: this| that| it| the following)?(?: down)?,? (?:to|in|"
        rf"into) "
        r"(?:your |the |long-term )?memor(?:y|ies)(?: that |[:：,] ?)",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    Cue(
        ("note",),
        r"note (?:that )?(?=.{3,300}\bfor (?:the future|future reference|later|next time)\b)",
        Keep.AFTER,
        asks=True,
    ),
    Cue(
        ("future", "next time"),
        r"for (?:future reference|the future|next time)[,:]? ",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
        never=r"(?:of|and|is|are)\b",
    ),
    Cue(
        (*_TO_REMEMBER, "save", "keep"),
        r"(?:[,;—] ?)?(?:(?:and|so|please) ){0,3}(?:remember|memori[sz]e|don't forget|keep in mind|note|save|"
        r"keep) (?:that|this|it)(?: (?:for (?:later|the future|next time)|please|in mind))?[\s.!]*$",
        Keep.BEFORE,
        within=r"(?=[,;—])",
        asks=True,
    ),
    Cue(
        ("future", "next time"),
        r", for (?:future reference|the future|next time)[\s.!]*$",
        Keep.BEFORE,
        within=_ANYWHERE,
        asks=True,
    ),
    # For always.
    Cue(
        _SINCE_NOW,
        r"(?:from now on|from here on(?: out)?|from today(?: on)?|going forward|starting (?:now|today)|"
        r"henceforth)(?:,? please)?,? ",
        Keep.LED,
        within=_JOINT,
        never=r"(?:and|or|but|in|to|with|out)\b",
    ),
    Cue(
        _SINCE_NOW,
        r"(?:from now on|from here on(?: out)?|going forward)(?:,? please)?[\s.!]*$",
        Keep.WHOLE,
        within=r"(?<=\w)[,\s]+",
    ),
    Cue(
        ("in future", "in the future"),
        r"in (?:the )?future(?:,? please |, )",
        Keep.LED,
        never=r"(?:if|when|maybe|perhaps|who|what|how|why|there|i|we|he|she|it|they|you|this|that|the|a|an|our|my|some)\b",
    ),
    Cue(
        ("always", "never"),
        r"(?:(?:you should|you must|make sure (?:you|to)|be sure to|i want you to|"
        r"i need you to) )?(?P<from>(?:always|never)(?:,? ever)?,? (?=[a-z]))",
        Keep.FROM,
        Kind.INSTRUCTION,
        never=_NOT_AN_ORDER,
    ),
    Cue(("ever",), r"(?:don't|do not) ever (?=[a-z])", Keep.FROM, Kind.INSTRUCTION, never=r"forget\b"),
    Cue(
        ("know that",),
        r"you (?:should|must|need to|have to) know that (?=(?:i|i'm|i've|i'd|my|we|we're|we've|our)\b)",
        Keep.AFTER,
    ),
    # Preferences and names.
    Cue(
        ("prefer",),
        r"i(?:'d| would)? (?:(?:really|generally|usually|personally|strongly|always|much|still) ){0,2}prefer |"
        r"my preference is ",
        Keep.FROM,
        Kind.PREFERENCE,
        never=_DEICTIC,
    ),
    Cue(
        ("my preferred", "my favo"),
        r"my (?:preferred|favou?rite) [\w '-]{2,40}? (?:is|are) ",
        Keep.FROM,
        Kind.PREFERENCE,
        never=rf"{_DEICTIC}|broken\b|gone\b|missing\b|failing\b",
    ),
    Cue(
        ("like ", "love "),
        r"i (?:(?:really|much|usually) )?(?:like|love) (?=.{1,120}\b(?:over|more than|better than|"
        r"rather than) \w)",
        Keep.FROM,
        Kind.PREFERENCE,
        never=rf"{_DEICTIC}|how\b|that\b|this\b|.{{1,120}}\bover (?:here|there|time)\b",
    ),
    Cue(("rather ",), r"i(?:'d| would) (?:much )?rather ", Keep.FROM, Kind.PREFERENCE, never=_DEICTIC),
    Cue(
        ("name is", "name's"),
        r"my (?:(?:first |full |last )?name is|name's) ",
        Keep.FROM,
        Kind.FACT,
        never=r"(?:not|on|in|wrong|spelled|missing)\b",
    ),
    Cue(
        ("call me ",),
        r"(?:you (?:can|may|should) )?(?P<from>call me )",
        Keep.FROM,
        Kind.PREFERENCE,
        within=_JOINT,
        never=_NOT_A_NAME,
    ),
    # Decisions.
    Cue(
        ("decided", "agreed", "settled", "opted", "chose", "picked"),
        r"we(?:'ve| have)?(?: now| finally| all| just)? (?:(?:decided|agreed|settled|opted) (?:to|on|that|"
        r"against|for|not to)|chose|chosen|picked) ",
        Keep.WHOLE,
        Kind.DECISION,
        within=_WORD,
        never=_DEICTIC,
    ),
    Cue(
        ("let's agree",),
        r"let's agree (?:that|on) ",
        Keep.AFTER,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC,
    ),
    Cue(
        ("go with ", "going with ", "stick with ", "sticking with "),
        r"(?:let's|we(?:'re| are)|we(?:'ll| will)) (?:just )?(?:go|going|stick|sticking) with ",
        Keep.FROM,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC,
    ),
    Cue(
        ("let's use ",),
        r"let's use (?=.{1,80}\b(?:instead of|rather than|over)\b)",
        Keep.FROM,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC,
    ),
    # Chinese.
    Cue(
        ("记住", "牢记", "记一下", "记下", "备忘", "记忆"),
        r"(?:(?:请你?|帮我|麻烦你?|你|要|一定要|千万|务必)*)(?:记住|牢记|记一下|记下来?|备忘|(?:保存|存|加|"
        r"写)(?:到|进|入)你?的?(?:长期)?记忆里?)(?:一下)?[，,:： ]*",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
        never=r"我?的?(?:密码|账号|登录)(?:的|按钮|选项|框)|[这那](?:个|点|一点|些)?[了吧。！\s]*$|[了吧啊]",
    ),
    Cue(
        ("忘",),
        r"(?:请|千万|可)*(?:别|不要|不能)忘(?:了|记)?[，,:： ]*(?=我|咱|他|她|它|所有|每|周|[A-Za-z]|"
        r".{1,20}(?:是|必须|不能|不要|都))",
        Keep.AFTER,
        within=_JOINT,
        asks=True,
    ),
    Cue(("从",), r"从(?:现在|今天|今|此|这次)(?:开始|起|以后|往后)", Keep.FROM, Kind.INSTRUCTION, within=_JOINT),
    Cue(
        ("以后", "今后", "下次", "下回"),
        r"(?:请)?(?:以后|今后|下次|下回)(?:请|也|都|要|你)*记得",
        Keep.AFTER,
        Kind.INSTRUCTION,
        within=_JOINT,
        asks=True,
    ),
    Cue(("下次", "下回"), r"(?:下次|下回)(?=请|先|不要|别|务必|必须)", Keep.FROM, Kind.INSTRUCTION, within=_JOINT),
    Cue(
        ("以后", "今后"),
        r"(?:以后|今后)",
        Keep.FROM,
        Kind.INSTRUCTION,
        within=_JOINT,
        never=r"再[说看弄做改讨考聊议处]|可能|也许|有(?:空|时间|机会)|会|想|的|呢",
    ),
    Cue(
        ("喜欢", "偏好", "偏爱", "习惯", "倾向", "宁愿"),
        r"我们?(?:也|不太|不|更|比较|最|一直|很|特别|还是|都|平时|一般|通常|个人)*(?:喜欢|偏好|偏爱|习惯|"
        r"倾向于?|宁愿)",
        Keep.FROM,
        Kind.PREFERENCE,
        within=_JOINT,
        never=_DEICTIC_ZH,
    ),
    Cue(
        ("叫",),
        r"我(?:的名字)?(?:叫做?|是叫)(?=[\w·]{1,20}(?:[，,。！!\s]|$))",
        Keep.FROM,
        Kind.FACT,
        within=_JOINT,
        never=r"[他她它你您]|了|过|人|车|不|醒|外卖|什么|啥|到",
    ),
    Cue(
        ("叫我",),
        r"(?:你们?)?(?:可以|请|就|都)?(?P<from>叫我(?=[^他她去来做\s，。！]{1,10}(?:就行|就好|吧)?(?:$|"
        r"[\s。，！])))",
        Keep.FROM,
        Kind.PREFERENCE,
    ),
    Cue(
        ("决定", "商定", "敲定", "选择了", "选定", "约定"),
        r"(?:我们|咱们|团队)(?:已经|最终|最后|一致|商量后|刚|都|就)*(?:决定|商定|敲定|选择了|选定|约定)",
        Keep.WHOLE,
        Kind.DECISION,
        within=_ANYWHERE,
        never=r"了?(?:没|吗)",
    ),
    Cue(
        ("就用",),
        r"(?:那么?|我们|咱们)?(?P<from>(?:(?![说问想如要])\w){0,10}?就用(?=.{1,40}吧))",
        Keep.FROM,
        Kind.DECISION,
        within=_JOINT,
        never=_DEICTIC_ZH,
    ),
    Cue(
        ("不要", "别"),
        r"(?:请|你)?(?P<from>(?:永远|绝对|千万|任何时候都|始终)(?:不要|别)(?=\w))",
        Keep.FROM,
        Kind.INSTRUCTION,
        within=_JOINT,
        never=r"忘|放弃|离开|说|问|等|想|吵|闹|见|这样|那样",
    ),
    Cue(
        ("始终", "务必", "一律"),
        r"(?:请|你)*(?P<from>(?:始终|务必|一律)(?=\w))",
        Keep.FROM,
        Kind.INSTRUCTION,
        never=r"没|无法|不能|失败|报错|是|在|会",
    ),
    Cue(
        ("不要再",),
        r"(?:请|你)?(?P<from>不要再)",
        Keep.FROM,
        Kind.INSTRUCTION,
        within=_JOINT,
        never=r"说|问|等|想|吵|闹|见|这样|那样",
    ),
    Cue(
        ("记得",),
        r"(?:请|要|你要)?记得(?=我(?:的|对|是|在|不|有|喜欢|叫|住|每|从)|我们?(?:的|用|是|在|有|每))",
        Keep.AFTER,
        asks=True,
        never=r"我们?(?:的那|的话|在(?:哪|说|这)|是不是|有没有|有次|有一次|在那)",
    ),
    Cue(
        ("记得",),
        r"(?:请|要)?记得(?=.{0,20}(?:每次|总是|始终|一律|每天|每周))",
        Keep.AFTER,
        Kind.INSTRUCTION,
        asks=True,
    ),
)
