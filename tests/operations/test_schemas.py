"""Every operation has a plain JSON Schema for its request and its result, and the view of its tool is derived from it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from jsonschema import Draft202012Validator as Validator
from tests.cases import each_case
from tests.operations.test_inert_results import results_of

from picomem.app import operations
from picomem.errors import InvalidInput
from picomem.light_dataclass import MISSING
from picomem.operations.operation import Operation, options
from picomem.operations.recall_views import jsonable
from picomem.operations.schemas import (
    Parameters,
    PlainParameters,
    request_schema,
    result_schema,
    tool_parameters,
)
from picomem.operations.table import operation

each_operation = each_case("verb", operations(), ids=lambda verb: verb.name)


def least_request(verb: Operation) -> Any:
    """A request with what must be given."""
    values: dict[str, Any] = {}
    for name, default, about in options(verb.request):
        if default is MISSING:
            values[name] = about["choices"][0] if about["choices"] else 1 if _is_number(verb, name) else "words"
    return verb.request(**values)


def _is_number(verb: Operation, name: str) -> bool:
    return verb.request.__annotations__[name].startswith(("int", "float"))


@each_operation
def test_the_plain_schema_has_every_field_and_takes_what_the_request_is_as_json(verb: Operation) -> None:
    schema = request_schema(verb)
    Validator.check_schema(schema)
    assert list(schema["properties"]) == [name for name, _, _ in options(verb.request)]
    assert schema.get("required", []) == [name for name, default, _ in options(verb.request) if default is MISSING]
    assert schema["additionalProperties"] is False
    values = jsonable(least_request(verb))
    document = {
        name: list(values[name]) if isinstance(values[name], tuple) else values[name] for name in schema["properties"]
    }
    Validator(schema).validate(document)
    assert PlainParameters(verb).request(document) == least_request(verb)


@each_operation
def test_what_does_not_fit_the_plain_schema_is_refused_by_it_and_by_the_request(verb: Operation) -> None:
    document = {**jsonable(least_request(verb)), "sudo": True}
    assert not Validator(request_schema(verb)).is_valid(document)
    with pytest.raises(InvalidInput, match=f"{verb.name} has no parameter “sudo”"):
        PlainParameters(verb).request(document)
    for name, default, about in options(verb.request):
        if about["least"] is not None:
            below = {**document, name: about["least"] - 1}
            below.pop("sudo")
            assert not Validator(request_schema(verb)).is_valid(below), name
        if default is MISSING:
            assert not Validator(request_schema(verb)).is_valid({}), name


@each_operation
def test_every_result_fits_its_schema(verb: Operation) -> None:
    schema = result_schema(verb)
    Validator.check_schema(schema)
    assert schema["type"] == "object"
    for result in list(results_of(verb, several=True))[::8]:
        Validator(schema).validate(jsonable(result))


@each_case("verb", [declared for declared in operations() if declared.tool], ids=lambda verb: verb.name)
def test_the_view_of_a_tool_is_the_plain_schema_with_fewer_fields_and_other_names(verb: Operation) -> None:
    plain = request_schema(verb)["properties"]
    view = Parameters(verb).schema()["properties"]
    named = {about["tool"] or name: name for name, _, about in options(verb.request) if about["tool"] is not None}
    assert view.keys() == named.keys()
    reworded = {("remember", "origin"), ("revise", "origin")}
    for name, field in named.items():
        same = view[name]["description"] == plain[field]["description"]
        assert same == ((verb.name, field) not in reworded), name


def test_a_tool_cannot_speak_as_the_user_and_a_person_can() -> None:
    verb = operation("remember")
    assert "user" in request_schema(verb)["properties"]["origin"]["anyOf"][0]["enum"]
    assert "user" not in Parameters(verb).schema()["properties"]["origin"]["enum"]
    assert PlainParameters(verb).request({"content": "Ann drinks tea", "origin": "user"}).origin == "user"


def test_a_schema_is_made_once_and_whole_for_each_reader():
    verb = operation("recall")
    assert tool_parameters(verb) is tool_parameters(operation("recall"))
    for schema_of in (tool_parameters(verb).schema, lambda: result_schema(verb)):
        schema = schema_of()
        whole = deepcopy(schema)
        schema["properties"].clear()
        assert schema_of() == whole
