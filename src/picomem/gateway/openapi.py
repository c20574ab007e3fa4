"""The OpenAPI document (3.1) of the operations, rendered from their table. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from picomem.gateway.calls import RemoteOperation
from picomem.operations.operation import Operation
from picomem.version import __version__

API = "/api/v1"
ERRORS = {
    400: "the request is wrong",
    401: "no valid token",
    403: "the token does not permit it, or another site asks",
    404: "nothing under that id or key",
    408: "the body did not come",
    409: "it changed since it was read, or needs a confirmation code",
    413: "the body is too large",
    415: "the body is not JSON",
    421: "another host is meant",
    422: "the write gate refused it",
    429: "too many requests",
    500: "a fault of the server",
    502: "a model or an embedder failed",
    503: "the store cannot do it",
}
ERROR_SCHEMA = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "one word for programs"},
                "message": {"type": "string", "description": "one sentence: what is wrong, and what to do"},
                "reason": {"type": "string", "description": "the code of the sentence, if it has one"},
                "values": {"type": "object", "description": "the values in the sentence, by their names"},
                "type": {"type": "string", "description": "the kind of the error, in the words of OpenAI's API"},
            },
            "required": ["code", "message", "type"],
        }
    },
    "required": ["error"],
}
USER_HEADER = "Picomem-User"


def document(operations: Iterable[RemoteOperation]) -> dict[str, Any]:
    """The document; `operations` in the order in which it lists them."""
    schemas: dict[str, Any] = {"Error": ERROR_SCHEMA}
    paths = {f"{API}/{remote.name}": {"post": _described(remote, schemas)} for remote in operations}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "picomem",
            "version": __version__,
            "description": "Long-term memory for AI agents. Each operation is a POST with one JSON object.",
        },
        "paths": paths,
        "security": [{"token": []}],
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _described(remote: RemoteOperation, schemas: dict[str, Any]) -> dict[str, Any]:
    operation = remote.operation
    summary, *further = operation.paragraphs
    if operation.confirmation is not None:
        further.append("Send it with `dry_run` first: the answer has the code that confirms it, in `confirmation`.")
    request, result = (_shared(schema, schemas) for schema in (remote.request_schema(), remote.result_schema()))
    responses: dict[str, Any] = {"200": {"description": "done", "content": _json(result)}}
    for status, said in ERRORS.items():
        responses[str(status)] = {"description": said, "content": _json({"$ref": "#/components/schemas/Error"})}
    return {
        "operationId": operation.name,
        "tags": [operation.group],
        "summary": summary,
        "description": "\n\n".join([*further, f"Permission: {_all_of(operation)}."]),
        "parameters": [
            {
                "name": USER_HEADER,
                "in": "header",
                "description": "another user whose memory is meant; it needs a global permission",
                "schema": {"type": "string"},
            }
        ],
        "requestBody": {"required": bool(request.get("required")), "content": _json(request)},
        "responses": responses,
    }


def _all_of(operation: Operation) -> str:
    return " and ".join(f"`{permission}`" for permission in operation.permissions)


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _shared(schema: Any, schemas: dict[str, Any]) -> Any:
    """A schema whose own definitions stand among those of the document. Names of classes are unique here."""
    if isinstance(schema, list):
        return [_shared(member, schemas) for member in schema]
    if not isinstance(schema, dict):
        return schema
    for name, definition in schema.get("$defs", {}).items():
        schemas[name] = _shared(definition, schemas)
    rest = {name: _shared(value, schemas) for name, value in schema.items() if name != "$defs"}
    if isinstance(rest.get("$ref"), str):
        rest["$ref"] = rest["$ref"].replace("#/$defs/", "#/components/schemas/")
    return rest
