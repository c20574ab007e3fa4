"""Scrub: redact what is stored already, with the rules of today. Safe to run again and again.

A rule that is added later finds what it did not find when the text came in. This is the one place besides purge that
changes stored text: a secret must not survive in an old version. What it changed is recorded without the secret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from picomem.policy.redact import Redactor
from picomem.records.ids import content_hash
from picomem.records.scope import Scope
from picomem.store import episodes, memories
from picomem.store.connector import Connector
from picomem.text.tokens import count_tokens


@dataclass(slots=True)
class Scrubbed:
    """What a scrub found: rows looked at, rows with a secret in them, and the secrets by rule."""

    rows: int
    changed: int
    findings: dict[str, int]


def scrub(
    connector: Connector, scope: Scope, redactor: Redactor, *, dry_run: bool, store_vector: Callable | None
) -> Scrubbed:
    """Redact every memory version and every episode of a user; in one transaction."""
    result = Scrubbed(0, 0, {})
    with connector.write() if not dry_run else connector.read() as tx:
        for row in tx.all("all_memories", user=scope.user):
            old = memories.unchecked(row)
            new = replace(
                old,
                content=_redacted(old.content, redactor, result),
                context=_redacted(old.context, redactor, result),
            )
            result.rows += 1
            if new == old:
                continue
            result.changed += 1
            if dry_run:
                continue
            tx.run(
                "rewrite_memory_text",
                user=scope.user,
                id=new.id,
                version=new.version,
                content=new.content,
                context=new.context,
                tokens=count_tokens(new.content),
                content_hash=new.content_hash,
            )
            tx.run("memory_words_remove", doc=old.doc, **memories.words(old))
            tx.run("memory_words_add", doc=old.doc, **memories.words(new))
            if store_vector:
                store_vector(tx, scope, "memory", old.doc, new.content)
        for row in tx.all("all_episodes", user=scope.user):
            episode = episodes.unchecked(row)
            preview = _redacted(episode.preview, redactor, result)
            result.rows += 1
            if preview == episode.preview:
                continue
            result.changed += 1
            if dry_run:
                continue
            fresh = replace(episode, preview=preview, tokens=count_tokens(preview))
            episodes.rewrite_preview(tx, scope, fresh)
            episodes.reindex(tx, scope, episode, fresh)
            if store_vector:
                store_vector(tx, scope, "episode", episode.doc, preview)
        for change_id, reason, candidate in tx.all("all_changes", user=scope.user):
            safe = _redacted(candidate, redactor, result)
            result.rows += 1
            if safe == candidate:
                continue
            result.changed += 1
            if not dry_run:
                digest = content_hash(reason, safe)
                tx.run("rewrite_candidate", user=scope.user, id=change_id, candidate=safe, content_hash=digest)
        if not dry_run and result.changed:
            tx.run("forget_index_pages", user=scope.user)
    return result


def _redacted(text: str, redactor: Redactor, result: Scrubbed) -> str:
    found = redactor.redact(text)
    for finding in found.findings:
        result.findings[finding.rule] = result.findings.get(finding.rule, 0) + 1
    return found.text
