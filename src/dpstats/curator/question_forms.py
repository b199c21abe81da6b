"""Question forms: what tells one question about a table from another, and the key by which the archive finds its answer again.

Values of different meaning never share a form: the label "1.5" and the number 1.5 make different questions. Values that mean the
same do share one: 1 and 1.0, a list and a tuple, a dict in any order. So do a median and the quantile at 1/2, and conditions that
say the same for a simple reason (engines/expressions/normal_form).

Releases before form 2 wrote numbers as texts, so that different questions could have the same key. A question's former key is
tried only where no other question can have had it, so that answers which were paid for then are still recalled.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.foundations.json_types import json_type_of
from dpstats.foundations.registry import INTERVAL, JsonType, Parameter, Question, argument_name, checked_level, find_statistic

FORM = 2
"""The form of what is hashed. It goes up when the same question gets another key; the first form did not name itself."""
_CALL = re.compile(r"[\w.]+\(.*\)|<.*>", re.DOTALL)
"""How the `repr` of a value other than a number looks."""


@dataclass(frozen=True)
class QuestionForm:
    """A question as the archive knows it."""

    details: Mapping[str, object]
    """Everything that tells it from others, in plain values."""
    former: tuple[Mapping[str, object], ...] = ()
    """The same as releases of earlier forms wrote it, where no other question was written so."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key under which its answer is archived, and those under which earlier releases may have archived it."""
        return tuple(map(archive_key, (self.details, *self.former)))


def form_of_question(
    question: Question, circumstances: Mapping[str, object], formerly: Mapping[str, object] | None = None
) -> QuestionForm:
    """A question as the archive knows it; `circumstances` are everything beside its method and its arguments.

    `formerly` are the circumstances as earlier releases wrote them, where that was otherwise.
    """
    plain = _in_plain_words(question)
    written = [(each, _former_arguments(each)) for each in ([question] if plain is question else [question, plain])]
    former = [{**_words(each), **(formerly or circumstances), "arguments": given} for each, given in written if given is not None]
    return QuestionForm({"form": FORM, **_words(plain), **circumstances, "arguments": _arguments(plain)}, tuple(former))


def form_together(words: Mapping[str, object], forms: Sequence[QuestionForm]) -> QuestionForm:
    """Questions that are asked together as the archive knows them; `words` tell them from a single one."""
    former = [form.former[0] for form in forms if form.former]
    return QuestionForm(
        {**words, "questions": [form.details for form in forms]},
        ({**words, "questions": former},) if len(former) == len(forms) else (),
    )


def archive_key(details: Mapping[str, object]) -> str:
    """The key of a question in the archive, from everything that tells it from others."""
    return hashlib.sha256(json.dumps(details, sort_keys=True).encode()).hexdigest()


def _in_plain_words(question: Question) -> Question:
    """The question by the plainest name that it has: a median for the quantile at 1/2."""
    same = question.statistic.same_as(question.arguments)
    if same is None:
        return question
    statistic = find_statistic(same.statistic)
    if question.method.name not in statistic.methods:
        return question
    return replace(question, statistic=statistic, method=statistic.methods[question.method.name], arguments=same.arguments)


def _words(question: Question) -> dict[str, object]:
    return {
        "method": f"{question.statistic.name}_{question.method.name}/{question.method.version}",
        "column": question.column if len(question.columns) < 2 else list(question.columns),
        **({} if question.interval == checked_level(INTERVAL) else {"interval": str(question.interval)}),
        **({"rough": True} if question.rough else {}),
    }


def _arguments(question: Question) -> dict[str, object]:
    """The arguments of a question in their canonical form; `kind` that is left out is not named."""
    parameters = {parameter.name: parameter for parameter in question.statistic.parameters}
    return {
        name: argument_form(value, parameters.get(name))
        for name, value in question.arguments.items()
        if (name, value) != ("kind", None)
    }


def argument_form(value: object, parameter: Parameter | None) -> Any:
    """A checked argument of a parameter as JSON, in a form that no argument of another meaning has."""
    return _form(_by_name(value, parameter))


def _form(value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [_form(item) for item in value]
    if isinstance(value, Mapping):
        items = [[_form(name), _form(item)] for name, item in value.items()]
        return {"items": sorted(items, key=lambda item: json.dumps(item, sort_keys=True))}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, Fraction, Decimal)):
        exact = Fraction(value) if math.isfinite(value) else None
        return {"number": str(value)} if exact is None else int(exact) if exact.denominator == 1 else {"number": str(exact)}
    return {type(value).__name__: _text(value)}


def _by_name(value: Any, parameter: Parameter | None) -> Any:
    """An argument that a check has frozen as a dict again, where its parameter takes one; any other as it is."""
    if parameter is None or not isinstance(value, tuple) or not value or not _takes_names(json_type_of(parameter)):
        return value
    pairs = all(isinstance(item, tuple) and len(item) == 2 for item in value)
    named = pairs and all(isinstance(item[0], str) or isinstance(item[1], Fraction) for item in value)
    return dict(value) if named else value


def _takes_names(json_type: JsonType) -> bool:
    return json_type.get("type") == "object" or any(map(_takes_names, json_type.get("anyOf", ())))


def _former_arguments(question: Question) -> dict[str, object] | None:
    """The arguments as form 1 wrote them; None where another question may have been written so."""
    parameters = {parameter.name: parameter for parameter in question.statistic.parameters}
    found = {}
    for name, value in question.arguments.items():
        if (name, value) == ("kind", None):
            continue
        if not _was_clear(value) or (_has_ratios(value) and _takes_texts(value, parameters.get(name))):
            return None
        found[name] = _former(value)
    return found


def _former(value: object) -> Any:
    """A value as form 1 wrote it: floats and others by `repr`, ratios as texts."""
    if isinstance(value, (list, tuple)):
        return [_former(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _former(item) for name, item in value.items()}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return _text(value)


def _was_clear(value: object) -> bool:
    """Whether nothing in a value was written by its `repr`, and no text in it reads as a value that was."""
    if isinstance(value, (list, tuple)):
        return all(map(_was_clear, value))
    if isinstance(value, Mapping):
        return all(isinstance(name, str) and _was_clear(item) for name, item in value.items())
    if isinstance(value, str):
        return not _reads_as_value(value)
    return value is None or isinstance(value, (bool, int, Fraction))


def _reads_as_value(text: str) -> bool:
    for number in (float, Fraction):
        try:
            number(text)
        except (ValueError, ZeroDivisionError):
            continue
        return True
    return _CALL.fullmatch(text) is not None


def _has_ratios(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_has_ratios, value))
    return any(map(_has_ratios, value.values())) if isinstance(value, Mapping) else isinstance(value, Fraction)


def _takes_texts(value: object, parameter: Parameter | None) -> bool:
    """Whether a parameter takes the texts of ratios for something else than the ratios."""
    if parameter is None:
        return True
    try:
        return bool(parameter.check(_former(_by_name(value, parameter))) != value)
    except Exception:  # refused, in whatever words
        return False


def _text(value: object) -> str:
    has_own = type(value).__repr__ is not object.__repr__  # the one that all objects have tells where they lie in memory
    if isinstance(value, Fraction):
        return str(value)
    return repr(value) if has_own else argument_name(value) or repr(value)
