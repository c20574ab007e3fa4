"""The index page: read from the store unless memory has changed since it was built."""

from __future__ import annotations

from contextlib import suppress

from picomem.engine.caller_context import CallerContext, EngineBase
from picomem.errors import StoreError
from picomem.index_page import cache as index_page_cache
from picomem.index_page.page import IndexAccount, IndexPage
from picomem.records.caller import READ_SESSIONS
from picomem.records.scope import Scope
from picomem.store.connector import BRIEF_WAIT


def index_page(context: CallerContext, scope: Scope | None, budget: int | None) -> IndexPage:
    """The page of a scope within a budget of tokens, by default the settings'."""
    owner = context.owner(scope)
    size = context.settings.index.budget if budget is None else budget
    with context.connector.read() as tx:
        page, made_from = index_page_cache.page(
            tx, owner, context.clock(), size, lambda memory: context.cleaner().shown(memory), _said(context)
        )
    if made_from:
        # A page that cannot be kept is made again next time.
        with suppress(StoreError), context.connector.write(owner, wait_seconds=BRIEF_WAIT) as tx:
            index_page_cache.keep(tx, owner, page, made_from)
    return page


def index_account(engine: EngineBase, scope: Scope, budget: int | None, omitted: int) -> IndexAccount:
    """The page of a scope, line by line, and at most so many of the entries that did not fit. Raises InvalidInput for a
    budget that no page fits."""
    context = engine._context
    size = context.settings.index.budget if budget is None else budget
    with context.connector.read() as tx:
        return index_page_cache.explained(
            tx, context.owner(scope), context.clock(), size, omitted, context.cleaner().shown, _said(context)
        )


def _said(context: CallerContext) -> index_page_cache.Said | None:
    """What may be shown of a text of past sessions; None if the caller may not read them, or the page is a group's."""
    if context.is_group or not context.caller.may(READ_SESSIONS):
        return None
    return lambda text: context.cleaner().shown_text(text)
