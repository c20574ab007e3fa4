"""The fence, for those who hand out results."""

from __future__ import annotations

from picomem.records.fence import fenced

__all__ = ["fenced"]
