"""The OpenAPI document: all routes for programs, from the tables by which they are served."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from dpstats.curator.documents.schema import question_schema
from dpstats.foundations.version import __version__
from dpstats.web.people.roles import Who
from dpstats.web.routes import Plain, Route
from dpstats.web.settings import WebSettings

VERSION = "3.1.0"
SCHEMA = "x-schema"
"""The word of a body's schema that stands for one of this document's own."""
_PLACES = "#/components/schemas/{model}"
_NAMED = re.compile(r"{(\w+)(?::(\w+))?}")
_TYPES = {"int": "integer"}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}
_COMPLAINTS = {
    "401": "nobody is signed in, and no good token came along",
    "403": "another role, or another scope of the token, is needed",
    "404": "there is nothing here that you may see",
    "409": "the budget does not allow it; nothing was spent",
    "413": "too long",
    "415": "neither JSON nor a form",
    "422": "something is wrong with what was sent; nothing was spent",
    "429": "too much is under way already; nothing was spent",
    "503": "the table or the ledger cannot be reached now",
}


def openapi_document(settings: WebSettings, routes: Iterable[Route]) -> Plain:
    """Everything that a program can ask for."""
    question = dict(question_schema())
    statistics = {f"Question_{name}": each for name, each in question.pop("$defs").items()}
    schemas: dict[str, Any] = {"Error": _ERROR, "Question": question, **statistics}
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(_address(route), {})[route.method.lower()] = _operation(route, schemas)
    schemas = _with_places(schemas)
    return {
        "openapi": VERSION,
        "info": {"title": settings.title, "version": __version__, "description": "Private statistics: see docs/service.md."},
        "servers": [{"url": settings.origin}],
        "paths": _with_places(paths),
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _address(route: Route) -> str:
    path = "/index.json" if route.path == "/" else f"{route.path}.json" if route.is_page else route.path
    return _NAMED.sub(r"{\1}", path)


def _operation(route: Route, schemas: dict[str, Any]) -> Plain:
    said: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.handler.__name__,
        "parameters": [*_path_parameters(route), *_query_parameters(route, schemas)],
        "responses": {
            "200": {"description": "done", "content": {"application/json": {}} if route.is_page or route.body else {"*/*": {}}},
            **{
                status: {
                    "description": words,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
                for status, words in _COMPLAINTS.items()
            },
        },
        "security": [] if route.who is Who.PUBLIC else [{"token": []}],
    }
    if route.body is not None:
        schema = route.body.model_json_schema(ref_template=_PLACES)
        schemas.update(schema.pop("$defs", {}))
        schemas[route.body.__name__] = schema
        place = {"schema": {"$ref": f"#/components/schemas/{route.body.__name__}"}}
        said["requestBody"] = {"required": True, "content": {"application/json": place}}
        said["parameters"].append(
            {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 100, "pattern": "^[ -~]*$"}}
        )
    return said


def _path_parameters(route: Route) -> list[Plain]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": _TYPES.get(kind, "string")}}
        for name, kind in _NAMED.findall(route.path)
    ]


def _query_parameters(route: Route, schemas: dict[str, Any]) -> list[Plain]:
    schema = route.query.model_json_schema(ref_template=_PLACES)
    schemas.update(schema.pop("$defs", {}))
    return [{"name": name, "in": "query", "schema": each} for name, each in schema.get("properties", {}).items()]


def _with_places(value: Any) -> Any:
    """References to questions and their statistics, as the document has them."""
    if isinstance(value, dict):
        if SCHEMA in value:
            return {"$ref": f"#/components/schemas/{value[SCHEMA]}"}
        return {
            name: each.replace("#/$defs/", "#/components/schemas/Question_") if name == "$ref" else _with_places(each)
            for name, each in value.items()
        }
    return [_with_places(each) for each in value] if isinstance(value, list) else value
