"""Signals of a text that an agent offers to memory: those of its sentences, and those of junk. Pure."""

from __future__ import annotations

import re
from functools import cache

from picomem.models.classifier import Observed
from picomem.policy.prompt_injection import is_hijack, looks_like_instruction
from picomem.policy.sentence_signals import observe

_CUES: tuple[tuple[str, str], ...] = (
    ("says that there is nothing to store", r"\b(?:no(?! longer\b| more\b)|nothing|none|not any)\b.{0,30}\b(?:important|relevant|new|notable|noteworthy|significant|to (?:store|remember|save|note)|information|memor(?:y|ies)|preferences|facts?|happened|learned)\b|^\W*(?:none|n/a|null|nil|empty|todo|tbd|undefined|nothing)\W*$|(?:没有|无|暂无).{0,8}(?:信息|内容|记忆|重要|需要|新)|\b(?:keine|ninguna|aucune|nenhuma)\b.{0,20}\b(?:information\w*|información|informations?|informaç\w+)"),
    ("tells what the user asked", r"\b(?:the )?user\b.{0,12}\b(?:asked|asks|is asking|requested|requests|wants? (?:me )?(?:to know|help|a|an|the|you)|needs? (?:a|an|help)|said|says|sent|greeted|thanked|uploaded|pasted|shared|inquired|would like)\b|用户.{0,4}(?:问|询问|请求|要求我|想让|让我|说了|发送|上传|打招呼|表示感谢|需要帮)|\b(?:nutzer\w*|usuari\w+|utilisateur\w*)\b.{0,20}\b(?:fragt\w*|bittet|bat|pregunt\w+|pidi\w+|demand\w+|pergunt\w+|pediu)"),
    ("tells what the agent does", r"^(?:now |next,? |then |first,? )?(?:i|i've|i'm|i'll|let me|the assistant|assistant|we)\b.{0,12}\b(?:will|have|am|fixed|added|updated|completed|ran|checked|created|read|edited|searched|provided|answered|think|should|can't|cannot|'ll|now|going|need to)\b|^(?:我|助手|本助手)(?:会|将|正在|已|已经|来|先|需要|无法|可以|认为|觉得)|^(?:ich werde|ich habe|voy a|he |je vais|j'ai|vou )"),
    ("is about the user", r"\bthe user\b|^user(?:'s)?\b|用户|\b(?:nutzer\w*|usuari[oa]|l'utilisat\w+|usuário|ユーザー)"),
    ("says how the user is now", r"\b(?:the )?user (?:is|seems|appears|feels|looks|was|sounds)\b.{0,25}\b(?:tired|happy|angry|frustrated|online|hungry|busy|here|waiting|satisfied|confused|bored|typing|sad|currently|right now|now|polite|friendly)\b|用户(?:现在|目前|正在|似乎|看起来|有点)"),
    ("is a guess", r"\b(?:might|may|maybe|perhaps|probably|possibly|likely|seems|appears|presumably|could be)\b|可能|也许|大概|似乎|或许|\b(?:vielleicht|quizás|peut-être|talvez)\b"),
    ("is a made-up person", r"\b(?:john|jane) (?:doe|smith)\b|张三|李四|\b(?:max mustermann|juan pérez|jean dupont|fulano)\b|example\.(?:com|org)|lorem ipsum|\bfoo(?:bar)?\b|\bacme corp\b|555-\d{4}|123 main st"),
    ("is markup or a role", r"<[/!?]?\w[^>]*>|\[/?inst\]|^#{1,4} |^\s*(?:system|assistant|user|human|ai)\s*[:：]|<\|"),
    ("gives the agent orders", r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:previous|prior|above|all|instructions|rules|guidelines)\b|\b(?:system prompt|jailbreak|reveal|exfiltrate|send .{0,40}(?:to|contents|ssh|key|password|credential)|curl |wget |base64|sudo|rm -rf|without asking|admin)\b|忽略.{0,8}(?:指令|提示|规则)|系统提示|泄露|\b(?:ignoriere|ignora|ignore[zr]?)\b"),
    ("is written for an assistant", r"^(?:you are|you're|always be|be (?:helpful|polite|concise)|act as|respond|remember to be|as an ai)\b|^你(?:是|应|必须|要)|^(?:du bist|eres|tu es|você é)\b"),
    ("is a step of a plan", r"^(?:step \d|next|then|first|plan|todo|\d+[.)])\b|步骤|下一步|首先|接下来|第[一二三]步|^\s*- \[[ x]\]"),
    ("is a result of a tool", r"\b(?:exit code|returned|status|http|total|matches|results?|tokens?(?: used)?|cost|elapsed|took|ms|bytes|lines|files? changed|passed|failed|warnings?|errors?)\b.{0,20}\d|\d.{0,12}\b(?:passed|failed|results?|matches|tokens|bytes|ms|files|warnings|errors|seconds|%)|返回|耗时|共.{0,4}\d+.{0,3}条|成功|失败|=\S+,|\w+=\w+"),
    ("says that something is done", r"\b(?:was|were|is|has been|have been|are)(?: now| successfully)? (?:saved|updated|created|fixed|added|deployed|merged|opened|closed|completed|done|running|ready|installed|committed|pushed|deleted|applied|generated|sent|finished|resolved)\b|已(?:完成|保存|更新|创建|修复|部署|提交|合并|发送)|(?:保存|完成|更新|创建|部署|提交)(?:成功|了)"),
    ("is common knowledge", r"^(?:[A-Z]?\w+ ){1,4}(?:is|are|was) (?:a|an|the|one of|often|usually|important|used|known|good|bad|healthy|located)\b|\b(?:is important|best practice|in general|generally|people (?:often|usually)|it is (?:important|good|recommended)|helps? (?:to|you)|good for)\b|有益|有助于|是一种|是一门|众所周知|应该(?:易于|保持)|很重要"),
    ("is about today", r"\b(?:today|now|currently|tonight|yesterday|tomorrow|this (?:morning|afternoon|session|conversation|chat|turn))\b|今天|现在|当前|本次|此次|这次|昨天|\b(?:heute|hoy|aujourd'hui|hoje)\b"),
    ("is about the conversation", r"\b(?:conversation|chat|session|message|discussion|assistant|response|answer|reply|request|prompt|context|task|summary)\b|对话|会话|消息|回复|任务|助手|本轮"),
    ("tells a choice that was made", r"\b(?:went (?:with|for)|chose|chosen|picked|settled on|opted for|stayed with|decided (?:on|to|against)|switched to|dropped|kept|replaced)\b|选了|选定|改用|换成|放弃|决定"),
    ("names a date or a reason", r"\b(?:19|20)\d\d\b|\b\d{1,2}\.? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|because|since|due to|root cause|decision|decided|因为|决定|原因"),
    ("says what is used, needed or forbidden", r"\b(?:uses?|needs?|requires?|must|never|always|only|not allowed|prefers?|allergic|lives?|works? (?:as|for|at|in|on)|owns?|responsible|decided|due|expires?|breaks?|fails? (?:on|when|if|without))\b|必须|只能|禁止|不能|偏好|喜欢|过敏|住在|负责|决定|使用|需要|统一|截止|不吃"),
    ("has no words", r"^\W*(?:[\w.-]{1,14}\W+){0,2}[\w.-]{0,14}\W*$"),
    ("is advice for everybody", r"^(?:drink|eat|sleep|exercise|be|stay|keep|write|use|avoid|always) (?:enough|more|well|regularly|kind|calm|hydrated|clean|simple|readable|meaningful|good|tests)\b|多喝|注意休息|保持健康"),
)  # fmt: skip


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _CUES)


def observe_offer(text: str) -> Observed:
    """The signals of an offered text."""
    body = text[:2_000].replace("’", "'")
    signals = {name: 1.0 for name, pattern in _compiled() if pattern.search(body)}
    if is_hijack(body):
        signals["tries to take the reader over"] = 1.0
    if looks_like_instruction(body):
        signals["reads like an instruction"] = 1.0
    if "is about the user" in signals and "tells what the user asked" not in signals:
        signals["says something of the user"] = 1.0
    return observe(body, signals)
