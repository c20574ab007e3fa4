"""Asks the project of a folder first, as hooks do, and all projects if nothing is found there. `folder` is where the
person works; empty where that was removed."""

from __future__ import annotations

from typing import Any

from picomem.engine.engine import Engine
from picomem.engine.past_sessions import project_meant_in, project_of_folder, shown_projects
from picomem.light_dataclass import fields, replace
from picomem.operations.operation import Operation, Progressing


def named_in_folder(engine: Engine, request: Any, folder: str) -> Any:
    """A request that names a project by the name of the folder in which it is made means the project of this folder."""
    if not folder or not (named := getattr(request, "project", "")):
        return request
    return replace(request, project=project_meant_in(engine, folder, named))


def call_in_folder(
    engine: Engine, operation: Operation, request: Any, folder: str, progress: Progressing | None = None
) -> Any:
    """Call an operation; where the folder matters and the request names no project, ask the folder's project first.
    What is found in projects says so by the names that people see."""
    if operation.has_answer is None:
        return operation.call(engine, request, progress)
    shown = shown_projects(engine)
    return _with_names(_called(engine, operation, request, folder, progress, shown), shown)


def _with_names(result: Any, shown: dict[str, str]) -> Any:
    if not shown:
        return result
    lists = {part.name: getattr(result, part.name) for part in fields(result)}
    renamed = {
        name: [_with_name(item, shown) for item in items] for name, items in lists.items() if isinstance(items, list)
    }
    return replace(result, **renamed)


def _with_name(item: Any, shown: dict[str, str]) -> Any:
    project = shown.get(getattr(item, "project", ""))
    return replace(item, project=project) if project else item


def _called(
    engine: Engine,
    operation: Operation,
    request: Any,
    folder: str,
    progress: Progressing | None,
    shown: dict[str, str],
) -> Any:
    project = _project_to_ask(engine, request, folder) if operation.has_answer else ""
    if not project or operation.has_answer is None:
        return operation.call(engine, request, progress)
    result = operation.call(engine, replace(request, project=project), progress)
    name = shown.get(project, project)
    remark = f"Only project “{name}” and what belongs to none was asked; --all-projects asks all."
    if not operation.has_answer(result):
        result = operation.call(engine, request, progress)
        remark = f"Nothing was found in project “{name}”, so all projects were asked."
    return replace(result, warnings=[*result.warnings, remark])


def _project_to_ask(engine: Engine, request: Any, folder: str) -> str:
    if not folder or request.all_projects or request.project or getattr(request, "session", ""):
        return ""
    return project_of_folder(engine, folder)
