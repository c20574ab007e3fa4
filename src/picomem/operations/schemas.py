"""The JSON Schema of the request and the result of an operation, and the check of a client's arguments.

Each operation has a plain schema: every field of its request by its own name, with all choices and bounds
(`PlainParameters`). The view of a tool is derived from it (`Parameters`): fields that are not for models are left out,
others have the designs' names. One pydantic model is both the schema that a client is told and the check of what it
sends, so the two cannot differ. Where the designs' tools say something else than the operation's own fields
(`knowledge` for a fact; an agent cannot speak as its user), the field's `tool_wording` says so.

Two liberties are taken with what models send, because they send it: a null means "not given", and a list of one may
come without its brackets. A tool also takes a number in quotes, as pydantic has it, and a list as a text
(list_arguments.py). Everything else that does not fit is InvalidInput, one sentence that names the parameter and what
it takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from functools import cache, cached_property
from types import NoneType
from typing import Any, Literal, Union, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic_core import ErrorDetails

from picomem.clock import EARLIEST, LATEST
from picomem.errors import InvalidInput, did_you_mean
from picomem.light_dataclass import MISSING, dataclass, replace
from picomem.light_dataclass import field as value_field
from picomem.operations.inert_results import fenced, fenced_name, fenced_turn
from picomem.operations.list_arguments import list_meant, single_meant
from picomem.operations.operation import (
    AS_DECLARED,
    LARGEST,
    MOST_ROWS_ANSWERED,
    Operation,
    ToolWording,
    checked,
    most_of,
    options,
)
from picomem.operations.recall_views import jsonable
from picomem.records.kinds import Origin
from picomem.records.scope import LONGEST

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
# Of a view with an origin: the fields that picomem writes. The author of the row wrote or chose all other texts.
_PROGRAMS = frozenset(
    """id source origin kind priority why decision reason status state message run change_id generator timeline
    invalidated tool_call_id transcript path citation at valid_from valid_to known_from known_to expires_at created_at
    updated_at said_at""".split()
)
_REFUSED = "candidate"  # of a change: a text that the gate refused, perhaps for what it told a model to do
_REASON_ORIGIN = "reason_origin"  # of a change: where its reason came from, empty where picomem found it
_GIVEN_NAMES = ("session", "branch")  # which a transcript gives; picomem makes the project's from a path
_SAID = ("text", "snippet")  # of a view of a turn: what was said
_SHOWN = 40  # characters of a wrong value that an error quotes

_SPAN = "^[1-9][0-9]{0,2}d$"
_WORDS = "^(today|yesterday|(last|this) (week|month|year))$"
_AHEAD = "^(never|tomorrow|next (week|month|year))$"
_CENTURY = "^(19|20)"
_DATES = [{"format": "date", "pattern": _CENTURY}, {"format": "date-time", "pattern": _CENTURY}]
_TIMES = [*_DATES, {"pattern": _SPAN}, {"pattern": _WORDS}, {"maxLength": 0}]
# The patterns are of a text, and the bounds of a number of milliseconds.
_TIME = {"allOf": [{"anyOf": _TIMES}], "minimum": EARLIEST // 1000, "maximum": LATEST // 1000}
_VISIBLE = r"[^\s\x00-\x1f\x7f-\x9f]"
_WITH_WORDS = {"pattern": _VISIBLE, "minLength": 1}
# Without a space at its ends; further characters that no terminal shows are refused as well.
_ONE_LINE = {"maxLength": LONGEST, "pattern": r"^([!-~\u00a1-\uffff]+( [!-~\u00a1-\uffff]+)*)?$"}
# The constraints of fields by their names, which mean the same in every operation. The operations check their own
# arguments and give better messages.
_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "content": _WITH_WORDS,
    "title": _WITH_WORDS,
    "channel_id": _WITH_WORDS,
    "message": _WITH_WORDS,
    "project": _ONE_LINE,
    "session": _ONE_LINE,
    "agent": _ONE_LINE,
    "importance": {"minimum": 0, "maximum": 1},
    "since": _TIME,
    "until": _TIME,
    "known_since": _TIME,
    "as_of": _TIME,
    "valid_at": _TIME,
    "now": _TIME,
    "time_window": _TIME,
    "expires_at": {"allOf": [{"anyOf": [*_DATES, {"pattern": _SPAN}, {"pattern": _AHEAD}]}]},
    "key": {"maxLength": 64, "pattern": "^([a-z][a-z0-9_]*)?$"},
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `field` is the request's field that it fills, `default` MISSING where it is required.

    `extra` is what its schema says besides the type.
    """

    name: str
    field: str
    help: str
    kinds: tuple[type, ...]
    choices: tuple[str, ...]
    many: bool
    is_path: bool
    default: Any
    wording: ToolWording = AS_DECLARED
    nullable: bool = False
    extra: Mapping[str, Any] = value_field(default_factory=dict)

    @property
    def annotation(self) -> Any:
        """The type for pydantic. A null is left out before the check; the plain schema says where one is expected."""
        one = Literal[self.choices] if self.choices else Union[self.kinds]  # noqa: UP007 - made at run time
        several = list[one] | one if self.many else one
        return Union[several, NoneType] if self.nullable else several  # noqa: UP007

    @property
    def takes(self) -> str:
        """The accepted values, in words that follow "it is"."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        names = " or ".join(_NAMES[kind] for kind in self.kinds)
        return f"{names}, or a list of such" if self.many else names

    def value(self, checked: Any) -> Any:
        """The value of the request's field for a value that passed the check."""
        if not self.many:
            return self.wording.aliases.get(checked, checked) if isinstance(checked, str) else checked
        several = [checked] if isinstance(checked, str) else checked
        return tuple(self.wording.aliases.get(text, text) for text in several)


class Parameters:
    """The parameters of an operation's tool."""

    null_is_absent = True  # models send one for what they do not mean to give
    takes_quoted = True  # models put numbers, true and false, and lists in quotes

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._known = {parameter.name: parameter for parameter in self._listed(operation)}
        self._also = self._other_names(operation)
        fields: dict[str, Any] = {
            parameter.name: (parameter.annotation, _field(parameter)) for parameter in self._known.values()
        }
        self._model: type[BaseModel] = create_model(
            operation.request.__name__, __config__=ConfigDict(extra="forbid"), **fields
        )

    @property
    def _name(self) -> str:
        return self._operation.tool

    def _listed(self, operation: Operation) -> list[Parameter]:
        return _tool_view(operation)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of the arguments: one closed object."""
        return deepcopy(self._schema)

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {}, **_trimmed(self._model.model_json_schema())}

    def request(self, arguments: Mapping[str, Any]) -> Any:
        """The operation's request for a client's arguments. Raises InvalidInput with one sentence."""
        named = self._by_own_names(self._present(arguments))
        meant = {name: self._meant(name, value) for name, value in named.items()} if self.takes_quoted else named
        given = self._present(meant)
        for name in given:
            self._check(name, given[name])
        try:
            valid = self._model.model_validate(given)
        except ValidationError as error:
            raise InvalidInput(self._sentence(error.errors(include_url=False))) from error
        values = {
            parameter.field: parameter.value(getattr(valid, parameter.name)) for parameter in self._known.values()
        }
        return checked(self._operation.request(**values), MOST_ROWS_ANSWERED)

    def _meant(self, name: str, value: Any) -> Any:
        """The value that is meant by one that is written as text. What is stored is taken as it is."""
        parameter = self._known.get(name)
        if parameter is not None and parameter.many:
            return list_meant(value, is_of_names=not parameter.is_path)
        is_filter = parameter is not None and parameter.default is not MISSING and self._operation.read_only
        return single_meant(value) if is_filter else value

    def _other_names(self, operation: Operation) -> dict[str, str]:
        """The parameters by the other names that they have: `category` and `kind` are one field everywhere."""
        fields = {parameter.field: parameter.name for parameter in self._known.values()}
        return {
            other: fields[name]
            for name, _, about in options(operation.request)
            for other in (name, about["tool"], *about["also"])
            if other and name in fields and other not in self._known
        }

    def _by_own_names(self, given: Mapping[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {}
        for name, value in given.items():
            own = self._also.get(name, name)
            if own in named:
                raise InvalidInput(f"{self._name} takes “{own}” once; “{_short(name)}” is the same.")
            named[own] = value
        return named

    def _present(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without those that are null where a null stands for nothing given."""
        return {name: value for name, value in arguments.items() if value is not None or not self.null_is_absent}

    def _check(self, name: str, value: Any) -> None:
        """Refuse an unknown parameter, and a value for which there is a better sentence than "one of"."""
        parameter = self._known.get(name)
        if parameter is None:
            raise InvalidInput(f"{self._name} has no parameter “{_short(name)}”; {self._instead(name)}")
        for element in value if isinstance(value, list) else [value]:
            if self._is_of_other_kind(element, parameter):
                raise InvalidInput(f"{name} is {_quoted(element)}; it is {parameter.takes}.")
            if isinstance(element, str) and element in parameter.wording.refused:
                raise InvalidInput(parameter.wording.refused[element])

    def _is_of_other_kind(self, element: Any, parameter: Parameter) -> bool:
        """Return whether pydantic would make a value of another kind out of it that its author did not mean."""
        kinds = parameter.kinds
        if isinstance(element, bool):
            return bool not in kinds
        if isinstance(element, str):
            return not (self.takes_quoted or str in kinds or parameter.choices)
        return isinstance(element, int | float) and kinds == (bool,)

    def _instead(self, name: str) -> str:
        # Users of the command line or the Python API may use the field's own name.
        renamed = [parameter.name for parameter in self._known.values() if parameter.field == name]
        otherwise = f"there are {', '.join(self._known)}." if self._known else "it takes none."
        return did_you_mean(renamed[0] if renamed else name, self._known, otherwise)

    def _sentence(self, errors: list[ErrorDetails]) -> str:
        """The first parameter that is wrong; of its several errors the one that looked deepest into the value."""
        first = str(errors[0]["loc"][0])
        deepest = max((error for error in errors if error["loc"][0] == first), key=lambda error: len(error["loc"]))
        parameter = self._known[first]
        if deepest["type"] == "missing":
            return f"{self._name} needs “{first}”: {parameter.help}."
        return f"{first} is {_quoted(deepest['input'])}; it is {parameter.takes}."


class PlainParameters(Parameters):
    """The fields of an operation's request by their own names, for a wire that is no tool of a model's."""

    takes_quoted = False

    @property
    def _name(self) -> str:
        return self._operation.name

    def _listed(self, operation: Operation) -> list[Parameter]:
        return _plain_view(operation)


@cache
def tool_parameters(operation: Operation) -> Parameters:
    """The parameters of an operation's tool, made once: pydantic takes milliseconds for each."""
    return Parameters(operation)


def request_schema(operation: Operation) -> dict[str, Any]:
    """The plain JSON Schema (2020-12) of an operation's request."""
    return {"$schema": DIALECT, **PlainParameters(operation).schema()}


def event_schema(operation: Operation) -> dict[str, Any]:
    """The JSON Schema (2020-12) of one event of the operation. Each event is an object with its `type`."""
    kinds = []
    for name, kind in operation.events.items():
        schema = _trimmed(TypeAdapter(kind).json_schema(mode="serialization"))
        properties = {"type": {"const": name}, **schema["properties"]}
        kinds.append({**schema, "properties": properties, "required": list(properties), "additionalProperties": False})
    return {"$schema": DIALECT, "oneOf": kinds}


def described(operation: Operation) -> str:
    """A tool's description: the operation's line, and the further paragraphs of its function's docstring."""
    _, *further = (operation.run.__doc__ or "").strip().split("\n\n")
    return "\n\n".join([operation.doc, *(" ".join(paragraph.split()) for paragraph in further)])


def result_schema(operation: Operation) -> dict[str, Any]:
    """The JSON Schema (2020-12) of the operation's result: an object."""
    return deepcopy(_result_schema(operation))


@cache
def _result_schema(operation: Operation) -> dict[str, Any]:
    return _trimmed(TypeAdapter(operation.result).json_schema(mode="serialization"))


def result_json(result: Any) -> dict[str, Any]:
    """The operation's result as JSON for a model, with every text that nobody trusted wrote fenced as data.

    The reply in words fences too, but hosts that get both (Claude Code, VS Code) hand their model this JSON only.
    """
    return _fenced(jsonable(result))


def _fenced(value: Any) -> Any:
    if isinstance(value, list):
        return [_fenced(element) for element in value]
    if not isinstance(value, dict):
        return value
    fields = {name: _fenced(element) for name, element in value.items()}
    if "origin" in fields:
        origin = fields["origin"]
        fields.update({name: _quoted_by(origin, text) for name, text in fields.items() if name not in _PROGRAMS})
        if origin == Origin.USER and (fields.get("role") == "user" or fields.get("source") == "sessions"):
            fields.update(
                {name: fenced_turn(fields[name], origin) for name in _SAID if isinstance(fields.get(name), str)}
            )
    if fields.get(_REASON_ORIGIN):
        fields["reason"] = fenced(fields["reason"], fields[_REASON_ORIGIN])
    if fields.get("transcript"):
        fields.update({name: fenced_name(fields[name]) for name in _GIVEN_NAMES if name in fields})
    if fields.get(_REFUSED):
        fields[_REFUSED] = fenced(fields[_REFUSED], Origin.OTHER)
    return fields


def _quoted_by(origin: str, value: Any) -> Any:
    """The texts of a field as its author's; an object in it has an origin of its own."""
    if isinstance(value, list):
        return [_quoted_by(origin, item) for item in value]
    return fenced(value, origin) if isinstance(value, str) else value


def _plain_view(operation: Operation) -> list[Parameter]:
    """Every field of the request."""
    hints = get_type_hints(operation.request)
    parameters = []
    for name, default, about in options(operation.request):
        kinds = get_args(hints[name])[:1] if about["many"] else get_args(hints[name]) or (hints[name],)
        is_number = int in kinds or float in kinds
        least, most = (about["least"], most_of(about, MOST_ROWS_ANSWERED)) if is_number else (None, None)
        bounds = {
            "minimum": -LARGEST if is_number and least is None else least,
            "maximum": LARGEST if is_number and most is None else most,
        }
        is_one = not (about["choices"] or about["many"])
        shape = _shape_of(name, may_be_empty=default == "") if is_one else {}
        parameters.append(
            Parameter(
                name=name,
                field=name,
                help=about["help"],
                kinds=tuple(kind for kind in kinds if kind is not NoneType),
                choices=tuple(str(choice) for choice in about["choices"]),
                many=about["many"],
                is_path=about["path"],
                default=default,
                nullable=default is None,
                extra={bound: value for bound, value in bounds.items() if value is not None} | dict(shape),
            )
        )
    return parameters


def _shape_of(name: str, *, may_be_empty: bool) -> Mapping[str, Any]:
    """Return the constraints of a field besides its type, for its schema; `may_be_empty` says that an empty text stands
    for none at all."""
    shape = _SHAPES.get(name, {})
    return {"pattern": f"^$|{_VISIBLE}"} if may_be_empty and "minLength" in shape else shape


def _tool_view(operation: Operation) -> list[Parameter]:
    """The fields that a model may fill, with the names and words of the designs' tools."""
    abouts = {name: about for name, _, about in options(operation.request)}
    return [
        _worded(parameter, about["tool"] or parameter.name, about["tool_wording"])
        for parameter in _plain_view(operation)
        if (about := abouts[parameter.field])["tool"] is not None
    ]


def _worded(parameter: Parameter, name: str, wording: ToolWording) -> Parameter:
    offered = [choice for choice in parameter.choices if choice not in wording.refused]
    return replace(
        parameter,
        name=name,
        help=wording.help or parameter.help,
        choices=(*offered, *wording.aliases) if offered else (),
        default=parameter.default if wording.default is None else wording.default,
        wording=wording,
        nullable=False,
        extra={},  # `checked` says it in a better sentence, and each word of a tool costs tokens of every request
    )


def _field(parameter: Parameter) -> Any:
    extra = dict(parameter.extra) or None
    if parameter.default is MISSING:
        return Field(description=parameter.help, json_schema_extra=extra)
    return Field(default=parameter.default, description=parameter.help, json_schema_extra=extra)


def _trimmed(schema: Any) -> Any:
    """A schema without what says nothing: titles made from names, and the defaults that mean "not given".

    A title is a text; what stands under "title" and is a schema is a property of that name, and stays.
    """
    if isinstance(schema, list):
        return [_trimmed(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _trimmed(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
        and not (name == "default" and (value is None or value == "" or value == []))
    }


def _quoted(value: Any) -> str:
    if isinstance(value, str):
        return f"“{_short(value)}”"
    return _short(json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
