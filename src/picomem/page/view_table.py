"""Every view of the page, in the order of the rail. A new view is a module, its templates, and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from picomem.page import (
    agent_view,
    chat_view,
    health_view,
    history_view,
    home_view,
    memory_view,
    purge_view,
    review_view,
    search_view,
    timeline_view,
)
from picomem.page.page_view import Act, PageView, undo

VIEWS: tuple[PageView, ...] = (
    home_view.VIEW,
    search_view.VIEW,
    memory_view.LIST,
    memory_view.VIEW,
    timeline_view.VIEW,
    timeline_view.EPISODE,
    review_view.VIEW,
    chat_view.LIST,
    chat_view.VIEW,
    agent_view.VIEW,
    history_view.VIEW,
    history_view.ONE,
    purge_view.VIEW,
    health_view.VIEW,
)

# Forms that stand on many views.
FORMS: Mapping[str, Act] = {"/undo": undo}
