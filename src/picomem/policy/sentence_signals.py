"""Signals of a sentence that can be seen without understanding it; classifiers decide from them. Pure.

A signal is a number with a name that a person can read. The signals describe the form of a sentence in seven languages: the speaker, the tense, the mood. In addition
there are the words, which a classifier hashes, and the static vector.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from picomem.models.classifier import Observed
from picomem.models.static_embedder import StaticEmbedder
from picomem.policy.low_value import low_value_reason
from picomem.records.kinds import Kind
from picomem.text.late_pattern import late_pattern
from picomem.text.terms import is_cjk, terms

if TYPE_CHECKING:
    import numpy as np

_LONGEST = 600  # characters that are read
_AUTOMATON_BYTES = 32_000_000  # the most that RE2 keeps of the states of all cues
_ZH = r"[\u3400-\u9fff]"

# A name, and a pattern without regard to case. `^` is the beginning of the sentence after words of politeness.
_CUES: tuple[tuple[str, str], ...] = (
    ("asks a question", r"[?？][\s\"'”’)]*$|[吗呢么]\s*[?？。]?$"),
    (
        "begins like a question",
        r"^(?:what|why|how|where|when|who|which|whose|is|are|was|were|does|did|do|can|could|should|would|will|has|"
        r"have|am|any)\b|^(?:为什么|为啥|怎么|如何|什么|哪|谁|多少|是不是|有没有|能不能|可不可以)|"
        r"^(?:wer|was|wie|wo|wann|warum|kannst|könntest|quién|qué|cómo|dónde|cuándo|por qué|puedes|qui|que|comment|"
        r"où|quand|pourquoi|peux|pouvez|est-ce|quem|como|onde|quando|pode|você pode)\b",
    ),
    (
        "asks for a thing to be done",
        r"^(?:please |pls )?(?:can|could|would|will) (?:you|u)\b|^(?:请|帮我|麻烦|能帮我|能不能帮)|^(?:kannst|könntest) du\b|"
        r"^(?:puedes|podrías|peux-tu|pourrais-tu|pode|poderia)\b|^please\b",
    ),
    (
        "begins with an order",
        r"^(?:just |now |then |next |ok |also |first |go |and |please )*(?:fix|add|remove|delete|rename|refactor|"
        r"implement|write|rewrite|create|update|show|open|look|explain|find|search|list|print|summari[sz]e|translate|"
        r"move|change|make|generate|check|review|debug|try|rerun|revert|undo|commit|push|merge|install|format|run|test|"
        r"shorten|convert|extract|split|clean|improve|set|replace|restart|rebuild|deploy|apply|read|turn|give|tell|"
        r"help|work|research|websearch|google|investigate|figure|verify|spawn|launch|analy[sz]e|brainstorm|plan|design|prepare|walk|dig|evaluate|upgrade|clone|fetch|pull|inspect|trace|profile|document|port|integrate|wire|finish|pick|take|get|bring|close|address|resolve|send|put|draft|book|stop|start|continue|pretend|imagine|suppose|assume|act|compare|describe|"
        r"calculate|suggest|recommend|remind|let|wait|ignore|reply|forget|bump|drop|squash|rebase|cancel|proceed|keep)\b|"
        r"^(?:把|给我|查|写|翻译|总结|列|改|删|加|看|算|推荐|解释|继续|跑|试|换|修|帮|重新|先)",
    ),
    (
        "is a standing order",
        r"^(?:please |also |and |oh |so |ok )*(?:always|never|don'?t ever|no more|do not|don'?t|avoid|only|use|call me|"
        r"address|prefer|make sure|whenever|every time|from now on|going forward|keep in mind|note that|remember)\b|"
        r"^(?:以后|今后|从现在|从今|务必|切记|记住|一律|不要|别|禁止|严禁|必须|统一|请始终|凡是)|"
        r"^(?:immer|nie|niemals|ab jetzt|ab sofort|künftig|bitte immer|bitte nie|siempre|nunca|a partir de ahora|"
        r"toujours|jamais|désormais|dorénavant|sempre|a partir de agora|de agora em diante)\b|^(?:今後|これから|必ず|いつも)",
    ),
    (
        "says always, never or every",
        r"\b(?:always|never|every|each|whenever|any time|anytime|as a rule|by default|in general|usually|normally|"
        r"without exception|at all times|all (?:our|my|the)|nobody|no one|everybody|everyone|nothing)\b|"
        r"每|总是|始终|一律|从不|从来|永远|一直|任何|所有|全部|平时|通常|一般|统一|都|"
        r"\b(?:immer|nie|niemals|jede[rsnm]?|grundsätzlich|siempre|nunca|cada|jamás|toujours|jamais|chaque|sempre|todo)\b|"
        r"いつも|必ず|毎|絶対",
    ),
    (
        "says from now on",
        r"\b(?:from now on|going forward|in (?:the )?future|from (?:next|today|this)|starting|as of|effective|since|"
        r"until further notice|henceforth|no longer|not any ?more|any more|anymore)\b|以后|今后|从现在|从今|起|不再|往后|"
        r"\b(?:ab (?:jetzt|sofort|nächste\w*|januar|mai)|künftig|seit|nicht mehr|a partir de|desde|ya no|désormais|"
        r"dorénavant|depuis|ne .{1,20} plus|de agora|doravante)\b|今後|これから",
    ),
    (
        "says must, only or may not",
        r"\b(?:must|mustn't|only|may not|cannot|can't|has to|have to|need to|needs to|should|shouldn't|required|"
        r"requires|allowed|forbidden|mandatory|at most|at least|no more than|off limits|banned)\b|"
        r"必须|只能|只用|只|不能|不许|不准|不得|不允许|禁止|严禁|要求|需要|至少|最多|不超过|"
        r"\b(?:muss|müssen|darf|dürfen|nur|soll|sollen|debe|deben|hay que|solo|doit|doivent|faut|seulement|deve|só)\b",
    ),
    ("says my or our", r"\b(?:my|our|mine|ours)\b|我的|我们|我家|咱们|咱|我司|\b(?:mein\w*|unser\w*|uns|mi|mis|nuestr\w+|mon|ma|mes|notre|nos|meu|minha|nosso|nossa)\b|私の|うち|弊社"),
    ("begins with I", r"^(?:i|i'm|im|i've|i'd|i'll)\b|^(?:本人|我(?!们))|^(?:ich|yo|je|j'|eu|soy|tengo|tenho|sou)\b|^(?:私|僕|俺)"),
    ("begins with we", r"^(?:we|we're|we've|we'd|we'll)\b|^(?:我们|咱们|本公司)|^(?:wir|nosotros|nous|on|nós|a gente)\b"),
    ("begins with my or our", r"^(?:my|our)\b|^我(?:的|家|妈|爸|老|女|儿|爱|哥|姐|弟|妹|们公司|们组|们团队|们这|司)|^(?:mein|meine|unser|unsere|mi|mis|nuestro|nuestra|mon|ma|mes|notre|nos|meu|minha)\b"),
    ("begins with the", r"^(?:the|a|an|all|any|each|every|no)\b|^(?:der|die|das|el|la|los|las|le|les|o|os)\b"),
    ("begins with it or that", r"^(?:it|it's|its|that|that's|this|these|those|they|he|she|there|here|so|then)\b|^(?:这|那|它|他|她|上面|刚|这个|那个)|^(?:das|es|eso|esto|ça|c'est|isso)\b"),
    ("says what the speaker is like", r"\bi(?:'m| am)(?: \w+)? (?:a|an|the|allergic|vegan|vegetarian|left|colou?r|based|from|new to|responsible|in charge|on call|scared|afraid|not a|no)\b|\bi(?: \w+)? (?:work|live|use|own|run|speak|teach|study|prefer|like|love|hate|dislike|drink|eat|drive|wear|have|take|need|want|suffer|moved|quit|switched|stopped|gave up)\b|\bi (?:can't|cannot|don't|won't|never|always|only|usually|would rather|used to)\b|我(?:是|在|对|有|住|不吃|不喝|不用|喜欢|习惯|讨厌|偏好|用|叫|今年|老家|每|平时|从|只|更)|\bich (?:bin|wohne|arbeite|habe|mag|esse|trinke|nutze|spreche|fahre)\b|\b(?:soy|vivo|trabajo|tengo|prefiero|uso)\b|\bje (?:suis|travaille|préfère|n'aime|mange|vis)\b|\bj'(?:ai|habite|utilise|aime)\b|\b(?:sou|moro|trabalho|tenho|prefiro)\b"),
    ("says what was decided", r"\bwe(?:'ve| have)? (?:\w+ )?(?:decided|agreed|chose|chosen|picked|settled|went with|switched|moved|dropped|migrated|adopted|standardi[sz]ed|cancelled|stopped|replaced|ruled out|stick|froze|are going with|will (?:use|go|ship|keep|move))\b|\b(?:decided|decision|agreed|approved|settled on|the plan is|is out|is off the table|instead of|rather than)\b|决定|定了|选了|选定|采用|改用|换成|敲定|确定|放弃|停用|迁|\b(?:entschieden|beschlossen|geeinigt|decidimos|hemos decidido|acordamos|avons décidé|décidé|decidimos)\b|にした|ことにしました|決め"),
    ("says who does or owns what", r"\b(?:owns?|responsible|in charge|handles?|maintains?|leads?|manages?|reports to|contact|reviews?|approves?|signs?|covers?|belongs? to)\b|负责|归|管|对接|联系|找|审批|\b(?:zuständig|verantwortlich|Ansprechpartner\w*|encarga|responsable|responsável)\b|担当"),
    ("says how a thing is", r"\b(?:is|are|runs?|uses?|lives?|has|have|needs?|takes?|goes|go|starts?|ends?|expires?|costs?|returns?|supports?|speaks?|means|contains|stays?|lies|sits|closes|opens|happens?)\b"),
    ("tells what was found out", r"\b(?:turns? out|turned out|the (?:cause|reason|fix|trick|culprit|problem|answer) (?:is|was)|root cause|found (?:out|it)|it was the|what (?:helped|fixed)|because|caused by|due to|that's why)\b|原因|原来|因为|是由于|导致|根因|查明|\b(?:lag an|weil|porque|parce que|à cause)\b"),
    ("points at something in sight", r"\b(?:this|that|these|those|above|below|here) (?:one|line|file|function|test|bug|error|page|section|paragraph|sentence|bullet|version|draft|commit|branch|diff|pr|slide|email|mail|message|part|thing|code|change|colou?r|title|image|list|table|step)\b|\bline \d|\b(?:the )?(?:first|second|third|last|other|previous|next) (?:one|paragraph|bullet|option|version|draft|line)\b|这(?:个|段|行|里|条|句|张|版|次|封|份|些|一)|那(?:个|段|行|里|条|句|张)|上面|下面|第.{1,3}(?:行|段|条|张|版|个)"),
    ("is for this once", r"\b(?:just this once|this time|for now|for today|today|tonight|this (?:afternoon|morning|evening|week|once)|tomorrow|temporarily|for the moment|for this (?:one|task|email|mail|pr|commit|draft|version|slide)|in a (?:sec|minute|moment|bit)|later)\b|这次|这回|今天|今晚|明天|暂时|临时|先(?:这|用|不|别|放|跳|到)|回头|待会|等会|稍后|一会|本次|\b(?:diesmal|heute|morgen|vorerst|hoy|mañana|esta vez|por ahora|cette fois|aujourd'hui|demain|hoje|amanhã|desta vez)\b|今回|今日|明日|とりあえず"),
    ("is about this moment", r"\b(?:right now|at the moment|currently|just now|still|already|again|brb|be right back|in a meeting|on my way|back in|hang on|hold on|one sec|a sec|minute|now)\b|现在|正在|刚刚|刚才|马上|目前|还在|又|已经|\b(?:gerade|jetzt|ahora|en este momento|maintenant|en train|agora)\b|ている途中|今"),
    ("tells what happened", r"\b(?:i|we|it|he|she|they)(?:'ve)? (?:just )?(?:ran|tried|got|saw|did|went|had|was|were|said|failed|broke|crashed|pushed|merged|fixed|added|changed|noticed|forgot|made|pasted|sent|clicked|restarted|updated|installed|asked|looked|finished|spent)\b|了[。！!]?$|\b(?:hat|habe|war|wurde|he|ha|fue|hizo|a été|foi)\b"),
    ("is happening", r"\b(?:is|are|am|'m|'re|was|were)(?: \w+)? \w{3,}ing\b"),
    ("is a plan for next", r"\b(?:let's|lets|let me|let us|shall we|we should|we could|i'll|i will|gonna|going to)\b|让我|我来|我们来|咱们来|接下来|然后|\b(?:lass uns|vamos|allons|on va)\b"),
    ("is unsure", r"\b(?:might|maybe|perhaps|probably|possibly|not sure|i think|i guess|wondering|wonder|would be nice|could be|seems?|looks like|apparently|unless|either|thinking of|thinking about|considering)\b|可能|也许|大概|好像|似乎|不确定|不知道|考虑|再说|看情况|\b(?:vielleicht|könnte|wohl|quizás|tal vez|peut-être|talvez)\b|かも"),
    ("is a condition", r"\b(?:if|in case|unless|once|when)\b|如果|要是|万一|的时候|时,|时，|\b(?:wenn|falls|si|quand|se|quando)\b"),
    ("is made up", r"\b(?:suppose|supposing|imagine|pretend|what if|assume|assuming|let's say|say i|if i (?:were|was|had|lived)|hypothetical\w*|example|fictional|character|novel|story|role ?play|persona|sample|lorem|foo|bar|placeholder)\b|假设|假如|假装|想象|比如|例如|小说|故事|主角|扮演|模拟|\b(?:stell dir vor|angenommen|imagina|imagine[zr]?|suposons|supongamos|suponha)\b"),
    ("tells what others say", r"\b(?:says?|said|told|tells|claims?|wrote|writes|thinks|believes|according to|heard|read (?:that|somewhere)|article|blog|horoscope|somebody|someone|people (?:say|always)|they say|recommends?|quote)\b|听说|据说|网上|有人|(?:[他她]|客户|老板|朋友|同事|妈|爸).{0,3}说|文章|新闻|\b(?:meint|sagt|behauptet|dice|dicen|dit|disent|diz)\b"),
    ("holds a quotation", r"[\"“”「」『』«»„]|(?<!\w)'[^']{3,}'(?!\w)"),
    ("begins with a quotation", r"^[\"“「『«„']"),
    ("holds code", r"`|[{}<>]|=>|::|\(\)|;\s*$|\$\w|--\w|\|\||&&"),
    ("holds a path or a name of code", r"\b[\w-]+/[\w./-]+|\b\w+_\w+|\b(?-i:[a-z]+[A-Z])\w+|\b\w+\.(?:py|js|ts|md|json|yml|yaml|toml|rs|go|sh|tsx|jsx|css|html|sql|txt|csv)\b"),
    ("looks like output", r"^\s*(?:\$|>>>|#|at |\[|\{|\d{4}-\d\d|error\b|warn\w*\b|info\b|debug\b|traceback|fatal\b|get /|post /|diff --git|select\b|from:|to:|subject:|npm |pip |git |usage:)|\b(?:exit code|stack ?trace|exception|errno|undefined|nullpointer|segfault|status \d{3}|passed|failed)\b|报错|\d+ms\b"),
    ("is small talk", r"^(?:\W*(?:thanks|thank you|thx|ty|hi|hello|hey|ok|okay|yes|no|nope|yep|yeah|cool|great|nice|perfect|sorry|lol|haha|good|hm+|wow|ugh|oh|ah|bye|sure|right|awesome|never ?mind|nvm|lgtm|wait|done|well)\b\W*)+|^(?:谢谢|好的?|嗯|行|可以|哈+|早|晚安|辛苦|抱歉|不好意思|对|没事|算了|收到|你好)|^(?:danke|gracias|merci|obrigad[oa]|hallo|hola|bonjour|ありがとう|はい|了解)"),
    ("has feelings", r"!|！|\b(?:love|hate|annoying|funny|ugh|lol|haha|damn|wtf|omg|sigh|hungry|tired|bored|stuck|sick of)\b|笑死|唉|烦|哈哈|饿|累|困"),
    ("trails off", r"(?:…|\.\.\.)\s*$"),
    ("names a weekday or a time", r"\b(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?\b|\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:am|pm)\b|\b(?:january|february|march|april|june|july|august|september|october|november|december|morning|noon|evening|night|weekly|daily|monthly)\b|周[一二三四五六日天末]|星期|\d+ ?[点月日号]|[上下]午|早上|晚上|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|lunes|martes|viernes|lundi|mardi|vendredi|segunda|sexta)s?\b|曜"),
    ("names a number", r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred)\b|[一二三四五六七八九十百千万两]"),
    ("names somebody or something", r"(?-i:(?<=[a-z,;:] )[A-Z][\w-]+|(?<=[\u3400-\u9fff]) ?[A-Za-z]{2,}|[A-Z]{2,})"),
    ("denies", r"\b(?:not|no|never|none|nothing|nobody|without|n't|don'?t|doesn'?t|isn'?t|can'?t|won'?t|neither|nor)\b|n't\b|不|没|别|无|非|\b(?:nicht|kein\w*|nie|no|nunca|ne|pas|jamais|não)\b|ない|ません"),
    ("gives the reason", r"\b(?:because|since|so that|otherwise|as (?:we|i|it|the)|due to|therefore|that's why|hence|so (?:no|don't|use|i|we|put|keep))\b|[,;—–-]\s*(?:it|she|he|they|we|that)\b|因为|所以|否则|不然|因此|免得"),
    ("prefers", r"\b(?:prefer\w*|rather|favou?rite|like|love|enjoy|hate|dislike|can't stand|fan of|allergic|intolerant|vegan|vegetarian)\b|喜欢|偏好|习惯|讨厌|过敏|不爱|爱吃|忌口|\b(?:lieber|bevorzug\w*|mag|prefier\w*|gusta|préfèr\w*|aime|prefiro|gosto)\b|好き|嫌い|苦手"),
    ("is about family or health", r"\b(?:wife|husband|son|daughter|kids?|child|children|mother|father|mum|mom|dad|sister|brother|partner|girlfriend|boyfriend|parents?|grandma|cat|dog|doctor|diagnos\w+|birthday|married|school)\b|老婆|老公|妻|丈夫|儿子|女儿|孩子|妈|爸|父|母|猫|狗|医生|生日|爱人|\b(?:frau|mann|sohn|tochter|mutter|vater|hija|hijo|madre|padre|fille|fils|mère|père|filha|filho|mãe|pai)\b"),
    ("is about the work at hand", r"\b(?:bug|error|test|tests|build|ci|commit|branch|pr|diff|function|code|script|file|line|log|logs|output|typo|compile|crash|stack)\b|报错|代码|函数|测试|提交|分支|脚本|日志|编译"),
    ("addresses the assistant", r"\byou(?:r|'re|'ve)?\b|你|您|\b(?:du|dir|dich|tú|te|tu|você)\b"),
    ("is in Chinese", _ZH),
    ("is in Japanese", r"[\u3040-\u30ff]"),
    ("is in another language", r"[äöüßéèêàçñóíúãõ¿¡]|\b(?:der|die|und|ist|nicht|el|los|para|con|est|les|pour|uma|não)\b"),
    ("begins in lower case", r"(?-i:^[a-z])"),
)  # fmt: skip
_POLITE = late_pattern(
    r"(?:(?:please|pls|and|also|oh|ok|okay|hey|hi|hello|so|but|well|btw|by the way|actually|yes|yeah|no|great|thanks|"
    r"one more thing|another thing|just|fyi|ps|heads up|for the record|quick note|note|reminder|important|hm+|ah|ugh)"
    r"\b[\s,.:!;—–-]*|(?:另外|对了|顺便(?:说一下|提一下)?|好的?|嗯|还有|那么|哦|补充一下|提醒一下)[\s，,。：:！!、]*){0,4}",
    re.IGNORECASE,
)


class PlainCues:
    """Cues as Python's `re` reads them."""

    def __init__(self, cues: Iterable[tuple[str, str]] = _CUES) -> None:
        self._patterns = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in cues]

    def __call__(self, text: str) -> set[str]:
        """The names of the cues in a text."""
        return {name for name, pattern in self._patterns if pattern.search(text)}


class LinearCues:
    """The cues as RE2 reads them, all at once: that takes a hundredth of the time. It means the same by them as long as
    the text is ASCII and has no whitespace but blanks."""

    def __init__(self) -> None:
        """Raises ImportError where there is no RE2."""
        import re2

        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        options.max_mem = _AUTOMATON_BYTES
        self._set: Any = re2.Set.SearchSet(options)
        self._names: list[str] = []
        others: list[tuple[str, str]] = []
        for name, pattern in _CUES:
            try:
                self._set.Add(pattern)
            except re2.error:  # of a pattern that looks around
                others.append((name, pattern))
            else:
                self._names.append(name)
        self._set.Compile()
        self._others = PlainCues(others)

    def __call__(self, text: str) -> set[str]:
        """The names of the cues in a text."""
        return {self._names[place] for place in self._set.Match(text.encode()) or ()} | self._others(text)


@cache
def _linear() -> LinearCues | None:
    """None where RE2 has no wheel."""
    try:
        return LinearCues()
    except ImportError:
        return None


@cache
def _plain() -> PlainCues:
    return PlainCues()


def _cues(text: str) -> set[str]:
    return ((_linear() if text.isascii() else None) or _plain())(text)


@cache
def _embedder() -> StaticEmbedder:
    return StaticEmbedder()


def observe(sentences: Iterable[str]) -> list[Observed]:
    """What can be seen of each sentence."""
    texts = [" ".join(sentence[:_LONGEST].split()).replace("’", "'") for sentence in sentences]
    return [_observe(text, meaning) for text, meaning in zip(texts, _embedder().embed(texts), strict=True)]


def _observe(text: str, meaning: np.ndarray) -> Observed:
    begins = _POLITE.match(text)
    body = text[begins.end() :] if begins and begins.end() < len(text) else text
    in_body = _cues(body)
    in_all = in_body if body == text else _cues(text)
    signals = dict.fromkeys(in_body | (in_all & _OF_ALL), 1.0)
    refusal = low_value_reason(text, Kind.FACT)
    if refusal is not None:
        signals[f"looks {refusal.value.replace('_', ' ')}"] = 1.0
    size = len(terms(text))
    signals["~length"] = min(size, 40) / 10
    signals["~short"] = float(size <= 3)
    signals["~long"] = float(size >= 25)
    signals["~clauses"] = min(len(_CLAUSE.findall(text)), 5) / 2
    signals["~signs"] = min(1.0, 4 * len(_SIGN.findall(text)) / max(1, len(text)))
    signals["~digits"] = min(1.0, 3 * sum(map(str.isdigit, text)) / max(1, len(text)))
    for one, other in _TOGETHER:
        if one in signals and other in signals:
            signals[f"{one}, and {other}"] = 1.0
    return Observed(signals, list(_words(body)), meaning)


_CLAUSE = late_pattern(r"[,;:，；：、]")
_SIGN = late_pattern(r"[{}()\[\];=<>$\\|&*@#+~^%_/]")
_WORD = late_pattern(r"[\u3040-\u30ff\u3400-\u9fff]+|[^\W_]+(?:['’-][^\W_]+)*")
_NUMBER = late_pattern(r"\d+")
_OF_ALL = frozenset(("is small talk", "looks like output"))
_TOGETHER = (
    ("asks a question", "says always, never or every"),
    ("begins with an order", "says always, never or every"),
    ("begins with an order", "is for this once"),
    ("begins with an order", "says from now on"),
    ("begins with I", "is about this moment"),
    ("begins with I", "is happening"),
    ("begins with I", "tells what happened"),
    ("begins with we", "tells what happened"),
    ("asks for a thing to be done", "says from now on"),
    ("asks for a thing to be done", "says always, never or every"),
    ("asks for a thing to be done", "gives the reason"),
    ("holds a quotation", "tells what others say"),
    ("is a standing order", "is for this once"),
    ("is a standing order", "points at something in sight"),
    ("says what was decided", "is for this once"),
    ("says what was decided", "points at something in sight"),
)


def _words(text: str) -> Iterator[str]:
    """Words and pairs of them to be hashed: as they are written, with the first ones marked."""
    folded = text.casefold()
    parts = _WORD.findall(folded)
    before = "^"
    for part in parts:
        if is_cjk(part):
            for size in (1, 2, 3):
                for at in range(len(part) - size + 1):
                    yield f"w:{part[at : at + size]}"
            yield f"f:{before}{part[:2]}"
            before = part[-1]
            continue
        word = _NUMBER.sub("0", part)
        yield f"w:{word}"
        yield f"b:{before} {word}"
        if len(word) > 5:
            yield f"p:{word[:4]}"
            yield f"s:{word[-3:]}"
        before = word
    yield f"e:{before}"
