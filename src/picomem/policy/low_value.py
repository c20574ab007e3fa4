"""Low-value text: text that nobody will need later, and that a proposer may therefore not store unasked.

A text of one kind (code, a licence, a boot file) is refused as a whole. Otherwise it is judged sentence by sentence,
and refused only if no sentence is worth keeping: "Thanks! The staging DB is on port 5433." is kept. A sentence has
low value if it is small talk, talk about the work, a question, or about this moment or this task.

The shapes refuse what is common and accept the rest, because a wrong refusal loses something for good, and a wrong
admission can be undone.
"""

from __future__ import annotations

import re

from picomem.policy.pattern_tables import any_of, matches, table, visible
from picomem.policy.refusal import Refusal
from picomem.records.kinds import Kind
from picomem.text.late_pattern import late_pattern


def low_value_reason(content: str, kind: Kind) -> Refusal | None:
    """Return the reason why a text that was offered unasked is not worth keeping as a memory of that kind, if any."""
    text = visible(content).strip()
    return _whole(text) or _by_sentence(text, kind)


# -------------------------------------------------------------------------------------- one thing as a whole

_BOILERPLATE = table(
    r"""
    \ball rights reserved\b|\bcopyright (\(c\)|©|\d{4})|\blicensed under the\b|
        \bpermission is hereby granted\b
    \bwithout warrant(y|ies) of any kind\b|\bspdx-license-identifier\b|版权所有|未经.{0,6}许可
    ^(co-authored-by|signed-off-by): |\bgenerated (with|by) \[?(claude code|codex|copilot)|
        \Asent from my \w+
    \b(e-?mail|message)\b.{0,60}\bconfidential\b|\bunsubscribe\b|\b(accept|uses?) (all )?cookies\b|
        \bprivacy policy\b
    \A\[request interrupted|\Acaveat: the messages below|\Athis session is being continued|
        \Atool ran without output
    </?(system-reminder|command-(name|message|args)|local-command-stdout|task-notification)\b
    \bas an? (ai|(ai |large )?language model)\b,? i\b
    """
)
_BOOT_FILE = table(
    r"""
    ^\W{0,3}(you are|you're)\b.{0,80}\b(assistant|agent|ai|bot|model|engineer|expert|companion|cli)\b
    ^#{1,3} (agents|claude|soul|user|identity|bootstrap|heartbeat|tools|gemini|memory|readme)\.md\b
    ^#{1,3} (getting started|installation|quick ?start|table of contents|contributing|system prompt)\s*$
    \bthis (file|document) (provides|gives|contains) (guidance|instructions)\b|\bknowledge cutoff\b|\A\[!\[
    \byou have access to (the following|these) tools\b|\bcontents of \S{0,200}(claude|agents|soul|
        memory)\.md\b
    ^\W{0,3}你是(一个|一名|一位|由)?.{0,30}(助手|助理|机器人|智能体|模型)
    """
)
_CODE_LINE = table(
    r"""
    ^[ \t]*(import [\w.{*]+( as \w+)?;?$|from \S+ import |#include|package [\w.]+;?$|using [\w.]+;|
        @\w+(\(.*)?$)
    ^[ \t]*((async )?def|func|fn) \w+ ?\(|^[ \t]*(export |async )*function ?\w* ?\(|^[ \t]*class \w+[(:{]|
        ^[ \t]*return\b.*[;()]
    ^[ \t]*(const|let|var) [\w{\[]+ ?[=:;]|^[ \t]*(public|private|protected|static)( [\w<>]+){1,4} ?[({;=]
    ^[ \t]*(if|for|while|switch) ?\(|^[ \t]*else:?$|[;{}]$|^[ \t]*[)\]}]|^[ \t]*<[/?!]?\w+[^>]*>|
        =>\s*[({]|^[ \t]*//|^[ \t]*/\*|
        ^\"[^\"]+\" ?:
    ^#!|^set -\w|^(SELECT|FROM|WHERE|GROUP BY|ORDER BY|HAVING|LIMIT|(LEFT |INNER )?JOIN)\b
    ^[ \t]*(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE)\b.{0,200}\b(FROM|SET|VALUES|
        WHERE|ADD)\b.*;
    ^[ \t]*[\w.\[\]\"']+ ?[-+*/]?= ?(\S+$|[\[({].*[\])}]$)|^[ \t]*\w[\w.]*\(.*\)[\[\]\w.:]*$|
        ^[ \t]{2,}[\w.-]+: \S{1,40}$|
        ^[\w.-]+:$
    ^(\$|>>>|%|PS>|❯) |^(diff --git|index [0-9a-f]{7}|--- \S|\+\+\+ \S|@@ -)|^[-+][\w@.].{0,200}[=;({]|
        ^[-+]\w+$
    ^[ \t]*(File \".*\", line \d+|at \S+ ?\(.*\)|Traceback \(|[\w.]*(Error|Exception)(:|$)|Caused by: )
    ^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d|[^A-Z\n]{0,12}(DEBUG|INFO|WARN|ERROR))|^\[(DEBUG|INFO|WARN|
        WARNING|ERROR)\]
    ^(export|alias|set) \w+=|^(GET|POST|PUT|DELETE) /\S* \d{3}\b
    ^(TRACE|DEBUG|INFO|ERROR|FATAL):|^\w+ (ERR!|WARN) |^(error|warning)(\[\w+\])?: |^(PASSED|FAILED|
        not ok|ok \d+)
    ^\d{1,3}(\.\d{1,3}){3} .*\"|^([A-Z][A-Z_ ]{2,30}\s{2,}){2}|^[-drwx]{10}\s|^={3,}
    """
)
# Signs that prose hardly uses; a line with this share of them is a machine's.
_SIGNS = late_pattern(r"[{}()\[\];=<>$\\|&*@#+~^%]")
_IN_BACKTICKS = late_pattern(r"`[^`]*`")
_SIGN_SHARE = 0.12
_FEWEST_SIGNS = 4
_DATA = late_pattern(r"(?s)\A\s*(\{.{0,200}[\"'\w] ?:.*\}|\[\s*[\[{\"'\d].*\])\s*\Z")


def _whole(text: str) -> Refusal | None:
    if matches(_BOOT_FILE, text):
        return Refusal.BOOT_FILE
    if matches(_BOILERPLATE, text):
        return Refusal.BOILERPLATE
    return Refusal.CODE if _is_code(text) else None


def _is_code(text: str) -> bool:
    """Data, or lines of which most are a machine's, those within a code fence included."""
    if _DATA.match(text):
        return True
    lines, fenced, machine = 0, False, 0
    for line in filter(str.strip, text.splitlines()):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        lines += 1
        machine += fence or fenced or _is_machine_line(line.rstrip()[:400])
    return machine >= 0.6 * lines


def _is_machine_line(line: str) -> bool:
    signs = len(_SIGNS.findall(_IN_BACKTICKS.sub("", line)))
    dense = signs >= _FEWEST_SIGNS and signs >= _SIGN_SHARE * len(line)
    return dense or matches(_CODE_LINE, line, flags=0)


# -------------------------------------------------------------------------------------- sentence by sentence

_SMALL_TALK = frozenset(
    """ok okay yes no yep yup nope yeah sure thanks thank thx you so much very great good nice cool awesome
    perfect done got it hi hello hey there morning afternoon evening night bye see later haha lol wow
    please right fine works that that's this sounds looks to me go ahead welcome you're sorry for the a
    lot well one all job is was amazing excellent exactly correct agreed alright continue proceed cheers
    understood confusion problem no worries of course lgtm again and help me np hmm hm uh um oh ah did
    trick makes sense try will do my bad let think wait second sec moment just helps helpful i see on
    working next moving step brilliant lovely fantastic wonderful superb neat sweet obliged never mind k kk
    ta nah yea greetings congrats kudos yay ugh oops whoops totally glad
    absolutely certainly definitely interesting""".split()
)
_DURABLE = (
    r"\b(always|never|every|each|whenever|from now on|going forward|by default|unless|before|after|"
    r"prefer\w*|must|only|instead of|rather than|because|since|in (19|20)\d\d|so that|to avoid)\b|"
    r"每|总是|始终|一律|以后|今后|必须|永远|都|因为"
)
_THIS_TASK = r"\b(this|that|these|those) \w+|\bline \d+|\b(it|now)\b|这|那个|一下"
_DOING = any_of(
    """runn re-?runn check look test debugg fix compil install investigat search read review inspect
    analy[sz] scann open edit writ updat load fetch restart rebuild work mov"""
)
_DONE = any_of(
    """updated fixed added created implemented removed changed made applied finished pushed committed
    opened merged refactored renamed deleted installed restarted ran checked tested cleaned rebased
    tagged reverted"""
)
_TASK_VERBS = any_of(
    """fix add remove delete rename refactor implement write create update show open look explain find
    search list print summari[sz]e translate move change make generate check review debug try rerun
    revert undo commit push merge install format run test rewrite reword shorten convert extract split
    clean improve optimi[sz]e set replace restart rebuild deploy apply read investigate turn simplify
    document give tell help"""
)
_NEAR = any_of("the an? this that these those it all both my me your at to into through for on line up \\S+\\.\\w+")
_TASK = table(
    rf"""
    ^((please|pls|now|then|next|just|can you|could you) )*{_TASK_VERBS} {_NEAR}\b
    ^((please|now|then) )?(fix|add|remove|delete|rename|implement|
        rewrite) \w.{{0,60}}\b(to|from|in|into|of) (the|this|that|my)\b
    ^(请|帮我|麻烦|你?帮忙)(你|帮我|把|先|再)*.{{0,12}}(改|修|看|写|加|删|查|找|运行|解释|翻译|实现|检查|更新|重命名|生成|创建)
    ^把.{{0,12}}(删|改|换|加|移|挪)(掉|成|到|为|去|上|一下)?\W*$
    ^(just |i |we |i've |we've )?{_DONE} {_NEAR}\b
    """
)
_WORK = (
    r"(all )?(the )?(\w+ of the )?(\w+ )?"
    r"(tests?|build|ci|pipeline|linter|compilation|deploy(ment)?|migration|checks?)"
)
_TRANSIENT = table(
    rf"""
    ^(i'm|i am|we're|we are) ((now|currently|still|just|about to) )*{_DOING}ing (the|this|that|these|your|
        at|into|why|on it)\b
    ^((now|currently|still|just) )*{_DOING}ing (the|this|that|these|your|at|into|why|on it)\b(?!.*\b(is|
        are|takes|needs|must|can)\b)
    ^((i'm|i am|we're|we are|now|currently|still) )?waiting (for|on) (the |a |your )?(ci|build|tests?|it|deploy|
        review|approval|merge|results?|response|reply)\b
    ^(i'm|i am|we're|we are) (going|about) to (look|check|run|read|fix|try|open|start|test|review|update|
        add|write|do)\b
    ^{_WORK}( (is|are|has|have|now|all|still|just|been))* (pass(ed|es|ing)?|succeeded|fail(ed|ing|s)?|
        green|red|done|running)\W*$
    ^{_WORK}( (is|are|has|have|now|all|still|just|been))* (pass|fail|finish|complet|succe)\w* (now|again|
        successfully|so far|locally)\W*$
    \b(is|are) (happy|green|red|clean|broken|working|passing|failing|up|down|done|fixed|fine|resolved|
        ready) (now|again)\W*$
    \b\d+ (tests? )?(passed|failed)\b|\b(is|are) still (going|running)\b|\b(right now|at the moment|
        just now|minutes? left)\b
    \b(is|are) (still |now |currently )?(restart|reboot|compil|build|install|deploy|load|download|upload|
        sync|start|hang)ing\W*$
    ^(the )?(build|tests?|deploy(ment)?|migration|job|run) (finished|completed|succeeded|passed|
        failed) (with|in|after)
    ^the (dependency|package|file|branch|change|fix|test|patch|commit|script|pr) is (now )?{_DONE}\W*$|
        ^\w+ files? changed\b
    ^i (just |have |think i |already )?(found|see|noticed|spotted|located) (the|an?|it|your)\b.{{0,30}}\b(bug|
        issue|problem|error|typo|cause)
    \bso i'm \w+ing (it|the|that|this|a)\b|^(rolled back|cleaned up|backed out|set up) {_NEAR}\b|^tests? fail\w*,|
        ^only \w+ (warning|error|test|failure)s? left
    \bin a (minute|moment|second)\b|\b(has|have) been (updated|created|fixed|added|removed|renamed|
        changed|saved)\W*$
    ^我?正在(运行|执行|安装|检查|测试|编译|构建|等待|修复|查看|处理|下载)|(改|修|弄|搞|写|做|删|加|更新|处理|解决)(好|完)了\W*$|^再.{{0,2}}(跑|试|来|看).{{0,2}}(遍|次|下)|正在(重启|启动|重试|加载|上传|同步)\W*$|请稍(等|候)|^(等我|稍等)|马上(就)?(回来|好)
    ^(所有)?(测试|构建|编译|部署|检查)(已经|已|全部|都|刚)*(通过|成功|失败|完成)了?\W*$
    """
)
_CHATTER = table(
    r"""
    ^(now,? )?let (me|us)\b|^(now,? )?let's (now )?(run|check|see|look|start|move on|try|fix|take|
        continue|begin|test)\b
    ^(now|next|first|then),? (i|i'll|i'm|we|we'll|i can)\b|^now (i|we) (understand|see|know|have)\b
    ^i('ll| will| am going to) (now|start|begin|first|go ahead|take|look|check|update|fix|run|create|
        implement|write|try|help)\b
    ^i('ve| have) (now |just |already )?(updated|fixed|added|created|implemented|changed|made|
        finished) (the|your|all|both|it|an?)\b
    ^i (see|understand|apologi[sz]e)\b|^here('s| is| are) (a|an|the|your|what|how|my|some)\b|
        ^you're (welcome|right)
    ^(great|good) (question|catch|point|idea)|^let me know|^feel free|^(i )?hope (this|that) helps|
        ^happy to help
    \bmakes (total |perfect |more |a lot of )?sense( now)?\W*$|^(i )?appreciate (it|that|the|your)\b|
        ^i'd be (happy|glad) to\b
    ^i (think|guess|suppose|hope) (we|we're|it|it's|this|that|so)\b|^(good|bad) news\b|
        ^(this|that|it) (should|might|will) (now )?(fix|work|help|do)\b
    ^我(再|先|想|还)?(想想|看看|试试|再看)|^我刚(刚|才)
    ^(i'm )?sorry (for|about)\b|^as (you )?requested|^(moving|going) on\b|^(one|just a) (second|sec|
        moment|minute)\b
    ^(让我|我来|我先|我马上|我去|我这就|接下来我?|下面我?|现在我?来|我看了|看起来)
    ^([嗯哦哈了啊呀吧，,！!。~ ]|好的?|收到|明白|知道|没问题|不客气|辛苦|可以|行|是的|对的?|再见|在吗?|
        抱歉|对不起|太好|太棒|很好|完美|搞定|继续|就这样|谢谢|感谢|你的?|您的?|帮助|早上?|晚上|晚安)+$
    """
)
_QUESTION = table(
    r"""
    [?？][\s\"'”’)]*$
    ^((so|and|but|ok|hey|hi) )?(what|why|how|where|when|who|which)('?s|'re| (is|are|was|were|do|does|did|
        can|could))\b[^.。]*$
    ^((so|and|but|ok|hey|hi) )?(what|why|how|where|when|who|which) (should|would|will|has|have|to|about|
        if|many|much|come|kind)\b[^.。]*$
    ^(is|are|was|were|does|did|can|could|should|would|will|has|am)(n't)? (i|you|u|we|they|he|she|it|the|
        this|that|there)\b[^.。]*$
    ^(is|are|was|were|does|did|can|could|should|would|will|has)(n't)? (my|your|our|an?|any|anyone)\b[^.。]*$
    ^(do|have) (i|you|we|they)\b[^.。]*$|^any (idea|clue|chance|thoughts)\b|^i (wonder|am wondering)\b|
        ^(tell|show) me\b|^explain\b
    [吗呢么]$|^(为什么|为啥|怎么|怎样|如何|什么|哪|谁|多少|请问|能不能|可不可以|是不是|有没有|能帮我|你(觉得|认为|能|可以))[^。]*$
    """
)
_LEADING = any_of(
    r"""ok okay great perfect sure done thanks thank\syou yes alright good nice excellent got\sit hmm
    cool right well so oops absolutely certainly definitely interesting ah oh wow noted agreed fine 好的? 嗯+"""
)
_LEAD_IN = late_pattern(rf"({_LEADING}[,.!，。！]*(\s+|(?<=[，。！,])))+", re.IGNORECASE)
_BETWEEN_SENTENCES = late_pattern(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_WORD = late_pattern(r"[a-z']+|[^\W\d_a-z]|\d")
_IDEOGRAPH = late_pattern(r"[\u3400-\u9fff]")


def _by_sentence(text: str, kind: Kind) -> Refusal | None:
    """The first sentence's refusal when each has one; a text of one short word is too short."""
    parts = filter(str.strip, _BETWEEN_SENTENCES.split(text))
    refusals = [_sentence(part.strip(" \t-*•"), kind) for part in parts]
    if None not in refusals:
        return refusals[0]
    is_short = len(text.split()) < 2 and len(_IDEOGRAPH.findall(text)) < 3
    return Refusal.TOO_SHORT if is_short else None


def _sentence(part: str, kind: Kind) -> Refusal | None:
    words = _WORD.findall(part.casefold())
    lead_in = _LEAD_IN.match(part)
    rest = part[lead_in.end() :] if lead_in else part
    if len(words) <= 8 and _SMALL_TALK.issuperset(words):
        return Refusal.CHATTER
    if matches(_CHATTER, part) or (lead_in and matches(_CHATTER, rest)):
        return Refusal.CHATTER
    if matches(_QUESTION, rest):
        return Refusal.QUESTION
    if matches(_TRANSIENT, rest) or (matches(_TASK, rest) and _is_for_now(rest, kind)):
        return Refusal.TRANSIENT
    return None


def _is_for_now(order: str, kind: Kind) -> bool:
    """Return whether an order is a task: no word makes it last, and of a rule's kind it must point at the task."""
    if re.search(_DURABLE, order, re.IGNORECASE):
        return False
    return kind not in (Kind.INSTRUCTION, Kind.PREFERENCE) or re.search(_THIS_TASK, order, re.IGNORECASE) is not None
