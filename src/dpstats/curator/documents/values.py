"""Values of documents: JSON read exactly as it is written, and arguments as JSON.

A number of JSON means the decimal that is written there. What is no plain value (something that could run, a number that is none,
one name twice) is refused, with its path in the document.
"""

from __future__ import annotations

import decimal
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NoReturn

from dpstats.engines.complaints import shown
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, MissingParameterError, UnknownNameError
from dpstats.foundations.json_types import fits, json_type_of
from dpstats.foundations.registry import REQUIRED, Parameter
from dpstats.foundations.units import LARGEST_EXACT

DEEPEST = 20
"""Lists in lists, and objects in objects."""


@contextmanager
def named(path: str) -> Iterator[None]:
    """Our own complaints get the path of what they are about: "parameters.q must be ...", "where[0]: there is no column ..."."""
    try:
        yield
    except DpstatsError as error:
        text, name = str(error), path.rpartition(".")[2]
        raise type(error)(f"{path.removesuffix(name)}{text}" if text.startswith(f"{name} ") else f"{path}: {text}") from None


def read_json(text: str | bytes) -> Any:
    """The value that a JSON text stands for; a decimal that is no float's shortest one becomes a `Decimal`."""
    try:
        return json.loads(text, parse_float=_number, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise InvalidParameterError(f"the document is no JSON: see line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise InvalidParameterError(f"a document may have {DEEPEST} lists and objects in each other at most.") from None
    except DpstatsError:
        raise
    except ValueError:  # bytes that are no text, or a whole number of thousands of digits
        raise InvalidParameterError("the document is no JSON: it must be text in UTF-8, with numbers of ordinary size.") from None


def plain_copy(value: Any, path: str = "", depth: int = 0) -> Any:
    """A copy of a JSON value, which nobody else can change; raises where it is none."""
    if value is None or type(value) in (bool, int, str, Fraction):
        return value
    if type(value) in (float, Decimal):
        if not (value.is_finite() if type(value) is Decimal else math.isfinite(value)):
            raise InvalidParameterError(f"{path or 'the document'} must be a finite number.")
        return value
    if depth > DEEPEST:
        raise InvalidParameterError(f"a document may have {DEEPEST} lists and objects in each other at most.")
    if type(value) in (list, tuple):
        return [plain_copy(item, f"{path}[{place}]", depth + 1) for place, item in enumerate(value)]
    if type(value) is dict and all(type(name) is str for name in value):
        place = f"{path}." if path else ""
        return {name: plain_copy(item, f"{place}{shown(name)}", depth + 1) for name, item in value.items()}
    kind = "an object whose names are no texts" if type(value) is dict else f"a {type(value).__name__}"
    raise InvalidParameterError(
        f"{path or 'the document'} must be plain JSON: null, true, false, a number, a text, a list or an object "
        f"of them; got {kind}."
    )


def refuse_unknown(place: str, name: object, known: Iterable[str], other_names: Mapping[str, str] | None = None) -> NoReturn:
    """Raise about a name that a place does not have, with the nearest one that it has."""
    raise UnknownNameError(f"{place} has no {shown(repr(name))}; {_hint(name, known, other_names)}")


def refuse_unknown_one(kind: str, name: object, known: Iterable[str], other_names: Mapping[str, str] | None = None) -> NoReturn:
    """Raise about a statistic, say, that there is not, with the nearest one that there is."""
    raise UnknownNameError(f"there is no {kind} {shown(repr(name))}; {_hint(name, known, other_names)}")


def _hint(name: object, known: Iterable[str], other_names: Mapping[str, str] | None) -> str:
    names = [*known]
    near = (other_names or {}).get(str(name)) or next(iter(get_close_matches(str(name).lower(), names, n=1)), None)
    return f"did you mean {near!r}?" if near else f"there are {', '.join(names)}." if names else "there is none."


def exact_number(value: Fraction) -> int | float | str:
    """A rational as a JSON number where one says it exactly and any reader keeps it, else as a text such as "1/3"."""
    if value.denominator == 1:
        return int(value) if abs(value) <= LARGEST_EXACT else str(value)
    try:
        nearest = float(value)
    except OverflowError:
        return str(value)
    return nearest if Fraction(repr(nearest)) == value else str(value)


def canonical_parameters(parameters: Sequence[Parameter], given: Mapping[str, Any], owner: str) -> dict[str, Any]:
    """The parameters that were given, as JSON that is the same for all values that mean the same; defaults are left out.

    Raises what is wrong with a value, about names that the `owner` does not have, and about required ones that are missing.
    """
    known = {each.name: each for each in parameters}
    for name in given:
        if name not in known:
            refuse_unknown(f"parameters of {owner}", name, known)
    found = {}
    for name, parameter in known.items():
        with named(f"parameters.{name}"):
            if name in given:
                argument = _checked(parameter, given[name])
                if parameter.default is REQUIRED or not _are_same(argument, parameter.check(parameter.default)):
                    found[name] = _canonical(parameter, argument)
            elif parameter.default is REQUIRED:
                raise MissingParameterError(f"{name} is missing: {parameter.help}.")
    return found


def _checked(parameter: Parameter, given: Any) -> Any:
    try:
        return parameter.check(given)
    except DpstatsError:
        raise
    except Exception:  # a check that met what it did not expect
        raise InvalidParameterError(f"{parameter.name} must be another value: {parameter.help}.") from None


def _canonical(parameter: Parameter, argument: Any) -> Any:
    """The plain value of the parameter's JSON type that its check turns into this argument."""
    for as_object in (False, True):
        try:
            candidate = _plain(argument, as_object)
            if fits(candidate, json_type_of(parameter)) and _are_same(parameter.check(candidate), argument):
                return candidate
        except Exception:  # it is no such value
            continue
    raise InvalidParameterError(
        f"{parameter.name} has no form in a document: give texts, whole numbers, and decimals of at most 15 digits."
    )


def _are_same(one: Any, other: Any) -> bool:
    """Whether two arguments are equal and of the same types, so that the archive takes them for one."""
    return repr(one) == repr(other)


def _plain(argument: Any, as_object: bool) -> Any:
    """An argument as JSON; pairs of names and values, which checks make of dicts, as lists or `as_object`."""
    if argument is None or type(argument) in (bool, int, str):
        return argument
    if type(argument) is float and math.isfinite(argument):
        return argument
    if isinstance(argument, Fraction):
        return exact_number(argument)
    if type(argument) is tuple and as_object and all(type(each) is tuple and type(each[0]) is str for each in argument):
        return {name: _plain(value, False) for name, value in argument}
    if type(argument) is tuple:
        return [_plain(each, False) for each in argument]
    raise TypeError("no plain value.")


def _number(text: str) -> float | Decimal:
    number = float(text)
    try:
        exact = Decimal(text)
    except decimal.InvalidOperation:  # beyond all numbers
        return math.inf
    return number if Decimal(repr(number)) == exact else exact


def _refuse_constant(text: str) -> NoReturn:
    raise InvalidParameterError(f"the document is no JSON: it has {text} in place of a number.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(f"the document names {shown(repr(twice))} twice in one object: name each once.")
    return found
