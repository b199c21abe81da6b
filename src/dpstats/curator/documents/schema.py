"""The JSON Schema of documents (draft 2020-12), made from the registry.

It says what can be known of a document by its shape: which names there are, which columns, parameters and methods each statistic
takes, and where delta is needed. Parameters' own checks, and the table, ask for more; the descriptions say what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.curator.documents.document import AMOUNT, COLUMN_WORDS, FORMULA_WORDS, LINEAR, REGRESSION, VERSION
from dpstats.curator.documents.reading import own_parameters
from dpstats.curator.formulas import MODELS, statistic_of
from dpstats.curator.planning.shapes import SHAPES
from dpstats.foundations.arguments import column_words
from dpstats.foundations.json_types import LABEL, TEXT, either, json_type_of, list_of, object_of
from dpstats.foundations.registry import AUTO, INTERVAL, REQUIRED, Method, Parameter, Statistic, find_statistic, statistic_names

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NAME = {**TEXT, "minLength": 1}
_LABELS = list_of(LABEL)
_AMOUNT = {"type": ["number", "string"], "pattern": f"^({AMOUNT})$"}
_EXACT = 'a number, or a text such as "0.2", "1e-7" or "1/3", which is read exactly as it is written'

_SIZE = {"type": "integer"}
_SHAPE = either({"enum": [*SHAPES]}, object_of({"type": ["number", "string"]}))
_PLAN = {
    "type": "object",
    "properties": {
        "n": {**either(_SIZE, list_of(_SIZE)), "description": "about how many rows the table, or a group, has"},
        "epsilon": {**either(_AMOUNT, list_of(_AMOUNT)), "description": "in place of the question's own; several for a curve"},
        "half_width": {
            "type": ["number", "string"],
            "description": "how wide the interval may be to either side, in the unit of the answer or as a share such as 5%; "
            "the plan finds the epsilon",
        },
        "shape": {
            **either(_SHAPE, list_of(_SHAPE)),
            "description": "how the data may look: a name, or quantiles by their places; left out: a few",
        },
        "repeats": {"type": "integer", "description": "tables that are simulated for each line"},
    },
    "additionalProperties": False,
    "description": "the words of a plan",
}


def question_schema() -> dict[str, Any]:
    """The JSON Schema of questions as documents: what `ask` of a protected table takes. See docs/documents.md."""
    kinds = {name: _statistic_type(find_statistic(name)) for name in statistic_names()} | {REGRESSION: _formula_type()}
    return {
        "$schema": DRAFT,
        "title": "A question about a protected table",
        "description": "What a document says beyond its shape (ranges of parameters, columns and their types, expressions, the "
        "budget) is checked when it is asked; nothing is spent before.",
        "type": "object",
        "required": ["version", "statistic", "epsilon"],
        "properties": _properties(kinds),
        "additionalProperties": False,
        "allOf": [_when("statistic", [name], {"$ref": f"#/$defs/{name}"}) for name in kinds],
        "$defs": kinds,
    }


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of questions with the words of a plan: what `plan` and `curve` of a service desk take."""
    question = question_schema()
    return {
        **question,
        "title": "A plan of a question about a protected table",
        "description": "What to expect of a question before it is asked; no data is read and nothing is spent.",
        "required": [name for name in question["required"] if name != "epsilon"],
        "properties": {**question["properties"], "plan": _PLAN},
    }


def _properties(statistics: Iterable[str]) -> dict[str, Any]:
    """All names of a document; each statistic says which of them it takes, and what they hold."""
    return {
        "version": {"const": VERSION, "description": "the form of documents"},
        "statistic": {"enum": [*statistics], "description": "what is asked"},
        "columns": {**list_of(_NAME, 0), "description": "columns by name"},
        "features": {**list_of(_NAME), "description": "features by name"},
        "outcome": {**_NAME, "description": "the outcome: a column by name"},
        "formula": {**_NAME, "description": "an outcome, a ~, and features, such as income ~ age + C(region)"},
        "model": {"enum": [*MODELS], "default": LINEAR, "description": "what the formula is fitted by"},
        "levels": {
            **object_of(_LABELS),
            "description": "the public labels of categories by column, the first one being the reference; where there are none, "
            "and none were declared, they are chosen privately, which needs delta",
        },
        "parameters": {"type": "object", "description": "the statistic's own parameters by name"},
        "epsilon": {**_AMOUNT, "description": f"the privacy that the answer spends: {_EXACT}"},
        "delta": {
            **_AMOUNT,
            "default": 0,
            "description": "for methods that need it, and for groups and levels that are chosen privately; with method auto it "
            f"is spent where a method gains by it: {_EXACT}",
        },
        "method": {"type": "string", "default": AUTO, "description": "the method by name"},
        "interval": {
            "type": ["number", "string", "null"],
            "default": INTERVAL,
            "description": "the confidence level of intervals, from 0.5 to 0.999, or null for none",
        },
        "rough": {
            "type": "boolean",
            "default": False,
            "description": "whether a rough answer is wanted where rows times epsilon are too few for a good one",
        },
        "with_columns": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "expression"],
                "properties": {"name": TEXT, "expression": TEXT},
                "additionalProperties": False,
            },
            "description": "new columns, each from an expression of one row that may name those before it",
        },
        "where": {**list_of(_NAME, 0), "description": "conditions, such as age >= 30; only rows that meet all of them are used"},
        "select": {**list_of(_NAME, 0), "description": "the only columns that may be named, in this order; left out: all"},
        "group_by": {
            "type": "object",
            "required": ["columns"],
            "properties": {
                "columns": list_of(_NAME),
                "keys": {
                    **either(_LABELS, list_of(_LABELS), object_of(_LABELS), {"type": "null"}),
                    "description": "the public groups: labels of the column; for several columns a list of labels for each "
                    "group, or labels by column, of which all combinations are taken; left out: those that were declared, else "
                    "they are chosen privately, which needs delta",
                },
            },
            "additionalProperties": False,
            "description": "the same question in every group, at the cost of one",
        },
    }


def _statistic_type(statistic: Statistic) -> dict[str, Any]:
    """What documents of one statistic hold."""
    columns = _column_types(statistic)
    left_out = [name for name in (*COLUMN_WORDS, *FORMULA_WORDS) if name not in columns]
    needed = ["parameters"] if any(each.default is REQUIRED for each in statistic.parameters) else []
    needed += ["delta"] if all(method.needs_delta for method in statistic.methods.values()) else []
    return {
        "description": statistic.summary,
        "properties": {
            **columns,
            **dict.fromkeys(left_out, False),
            **_own_types(statistic.name, statistic.parameters, statistic.methods),
        },
        **_required([*(() if statistic.only_counts or statistic.takes_tables else columns), *needed]),
        **_delta_rules(statistic),
    }


def _formula_type() -> dict[str, Any]:
    """What documents about a formula hold; the rest depends on the model."""
    models = {}
    for model in MODELS:
        statistic, parameters = statistic_of(model), own_parameters(REGRESSION, model)
        models[model] = {
            "description": statistic.summary,
            "properties": _own_types(model, parameters, statistic.methods),
            **_delta_rules(statistic),
        }
    return {
        "description": "A regression by a formula",
        "properties": dict.fromkeys(COLUMN_WORDS, False),
        "required": ["formula"],
        "allOf": [_when("model", [model], kind, or_missing=model == LINEAR) for model, kind in models.items()],
    }


def _column_types(statistic: Statistic) -> dict[str, Any]:
    if statistic.has_outcome:
        return {"features": {"maxItems": statistic.most_features}, "outcome": {}}
    if statistic.takes_tables:
        return {"columns": {"maxItems": statistic.most_features, "description": "columns by name; left out: all of them"}}
    if statistic.takes_only_columns:
        return {"columns": {"minItems": 1, "maxItems": statistic.most_features}}
    words = column_words(statistic, "column")
    if statistic.only_counts:
        return {"columns": {"maxItems": len(words), "description": "a column; left out: all rows are counted"}}
    several = {"description": f"{' and '.join(words)}: columns by name"} if len(words) > 1 else {}
    if statistic.takes_conditions:
        several = {"description": "a column by name, or a condition, such as hours > 0"}
    return {"columns": {"minItems": len(words), "maxItems": len(words), **several}}


def _own_types(owner: str, parameters: Iterable[Parameter], methods: Mapping[str, Method]) -> dict[str, Any]:
    """Parameters and methods of a statistic, or of a model."""
    listed = [*parameters]
    claims = "; ".join(f"{method.name}: {method.claim}" for method in methods.values())
    return {
        "parameters": {
            "properties": {each.name: _parameter_type(each) for each in listed},
            "additionalProperties": False,
            **_required(each.name for each in listed if each.default is REQUIRED),
        },
        "method": {"enum": [AUTO, *methods], "description": f"how {owner} is computed. {claims}"},
    }


def _parameter_type(parameter: Parameter) -> dict[str, Any]:
    default = [*parameter.default] if isinstance(parameter.default, tuple) else parameter.default
    return {
        **json_type_of(parameter),
        "description": parameter.help,
        **({} if default is REQUIRED else {"default": default}),
    }


def _delta_rules(statistic: Statistic) -> dict[str, Any]:
    """Where delta is needed by some methods: by name, and where "auto" takes one of them whatever the parameters are."""
    methods = statistic.methods.values()
    needing = [method.name for method in methods if method.needs_delta]
    if not needing or len(needing) == len(methods):
        return {}
    by_auto = statistic.prefer is None and next(iter(methods)).needs_delta
    rule = _when("method", [*needing, *([AUTO] if by_auto else [])], {"required": ["delta"]}, or_missing=by_auto)
    return {"allOf": [rule]}


def _when(name: str, values: list[str], then: Mapping[str, Any], *, or_missing: bool = False) -> dict[str, Any]:
    """A rule for documents in which a name has one of some values, or perhaps none."""
    has = {"properties": {name: {"const": values[0]} if len(values) == 1 else {"enum": values}}}
    return {"if": has if or_missing else {**has, "required": [name]}, "then": then}


def _required(names: Iterable[str]) -> dict[str, Any]:
    listed = [*names]
    return {"required": listed} if listed else {}
