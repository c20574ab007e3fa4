"""Asks the project of the folder first, as hooks do, and all projects if nothing is found there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from picomem.light_dataclass import fields, replace

if TYPE_CHECKING:
    from picomem.engine.engine import Engine
    from picomem.operations.operation import Operation, Progressing


def named_in_folder(engine: Engine, request: Any) -> Any:
    """A request that names a project by the name of the folder in which it is made means the project of this folder."""
    if not (named := getattr(request, "project", "")):
        return request
    from picomem.engine.upkeep import project_meant_in

    try:
        return replace(request, project=project_meant_in(engine, str(Path.cwd()), named))
    except OSError:  # the folder was removed
        return request


def call_in_folder(engine: Engine, operation: Operation, request: Any, progress: Progressing | None) -> Any:
    """Call an operation; where the folder matters and the request names no project, ask the folder's project first.
    What is found in projects says so by the names that people see."""
    if operation.has_answer is None:
        return operation.call(engine, request, progress)
    from picomem.engine.upkeep import shown_projects

    shown = shown_projects(engine)
    return _with_names(_called(engine, operation, request, progress, shown), shown)


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
    engine: Engine, operation: Operation, request: Any, progress: Progressing | None, shown: dict[str, str]
) -> Any:
    project = _project_to_ask(engine, request) if operation.has_answer else ""
    if not project or operation.has_answer is None:
        return operation.call(engine, request, progress)
    result = operation.call(engine, replace(request, project=project), progress)
    name = shown.get(project, project)
    remark = f"Only project “{name}” and what belongs to none was asked; --all-projects asks all."
    if not operation.has_answer(result):
        result = operation.call(engine, request, progress)
        remark = f"Nothing was found in project “{name}”, so all projects were asked."
    return replace(result, warnings=[*result.warnings, remark])


def _project_to_ask(engine: Engine, request: Any) -> str:
    if request.all_projects or request.project or getattr(request, "session", ""):
        return ""
    from picomem.engine.upkeep import project_of_folder

    try:
        return project_of_folder(engine, str(Path.cwd()))
    except OSError:  # the folder was removed
        return ""
