"""The words of a call: hints about unknown ones, renamed ones, and one that must not be left out."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Concatenate, ParamSpec, TypeVar

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError, UnknownNameError

OTHER_WORDS = {"bounds": "range", "n_blocks": "blocks", "eps": "epsilon", "timeout": "seconds", "n_jobs": "workers"}
"""What other libraries call a parameter, for hints."""
EPSILON = {"epsilon": "the privacy that it may spend: for example epsilon=0.5"}
"""What is said where it is left out."""
Parameters = ParamSpec("Parameters")
Asker = TypeVar("Asker")
Words = TypeVar("Words")
Reply = TypeVar("Reply")


def likely_name(name: str, known: Iterable[str], other_names: Mapping[str, str] | None = None) -> str | None:
    """The one of the `known` names that is likely meant: what another library calls so, or the nearest one; None without one."""
    listed = list(known)
    if other_names and name in other_names:
        return other_names[name] if other_names[name] in listed else None
    return next(iter(get_close_matches(name.lower(), listed, n=1)), None)


def unknown_word(function: str, word: str, known: Sequence[str]) -> UnknownNameError:
    """The error about a word that is no parameter of a function, with the one that is likely meant."""
    near = likely_name(word, known, OTHER_WORDS)
    hint = f"did you mean {near}?" if near else f"it has {', '.join(known)}."
    return UnknownNameError(f"{function} has no parameter {word!r}; {hint}")


def with_known_words(
    needed: Mapping[str, str] = EPSILON, /, **renamed: str
) -> Callable[[Callable[Parameters, Reply]], Callable[Parameters, Reply]]:
    """Decorator: errors with hints about keywords that the function does not have, and about `needed` ones that are left out.

    `renamed` are old words and new ones.
    """

    def decorate(function: Callable[Parameters, Reply]) -> Callable[Parameters, Reply]:
        known = tuple(inspect.signature(function).parameters)

        @functools.wraps(function)
        def checked(*given: Parameters.args, **words: Parameters.kwargs) -> Reply:
            for old in words.keys() & renamed.keys():
                warnings.warn(f"{function.__name__}: {old}= is now {renamed[old]}=.", DeprecationWarning, stacklevel=2)
                words[renamed[old]] = words.pop(old)
            check_words(function.__name__, words, known, needed=needed)
            return function(*given, **words)

        return checked

    return decorate


def taking(
    words: Callable[Parameters, Words],
) -> Callable[[Callable[[Words], Reply]], Callable[Parameters, Reply]]:
    """Decorator: a function of `words`, a dataclass, is called with the fields of the dataclass.

    A class attribute `refused` of it has words that belong elsewhere, and what is said about them.
    """

    return lambda answer: _taking(words, answer, ())


def method_taking(
    words: Callable[Parameters, Words],
) -> Callable[[Callable[[Asker, Words], Reply]], Callable[Concatenate[Asker, Parameters], Reply]]:
    """Decorator: as `taking`, of a method."""

    return lambda answer: _taking(words, answer, [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)])


def check_words(
    function: str,
    words: Mapping[str, object],
    known: Sequence[str],
    refused: Mapping[str, str] | None = None,
    needed: Mapping[str, str] = EPSILON,
) -> None:
    """Raise about words that are no parameters of a function, and where a `needed` one that it takes is left out.

    `refused` are words that belong elsewhere, and what is said about them; `needed` ones have what they are.
    """
    for word in words:
        if refused and word in refused:
            raise InvalidParameterError(refused[word])
        if word not in known:
            raise unknown_word(function, word, known)
    for word, what in needed.items():
        if word in known and words.get(word) is None:
            raise MissingParameterError(f"{function} needs {word}, {what}.")


def taken_words(function: str, words: Callable[..., Words], given: Sequence[object], keywords: Mapping[str, Any]) -> Words:
    """What a call of a function that takes the fields of `words` gives for them."""
    check_words(function, keywords, tuple(inspect.signature(words).parameters), getattr(words, "refused", {}))
    return words(*given, **keywords)


def _taking(words: Callable[..., Any], answer: Callable[..., Any], first: Sequence[inspect.Parameter]) -> Any:
    """`answer` as a function of what comes `first`, and then of what makes its words."""
    taken = inspect.signature(words)

    @functools.wraps(answer)
    def called(*given: Any, **keywords: Any) -> Any:
        return answer(*given[: len(first)], taken_words(answer.__name__, words, given[len(first) :], keywords))

    returned = inspect.signature(answer).return_annotation
    parameters = [*first, *taken.parameters.values()]
    called.__signature__ = inspect.Signature(parameters, return_annotation=returned)  # type: ignore[attr-defined]
    return called
