"""`dpstats people`: who may sign in to the service of a catalog."""

from __future__ import annotations

import argparse
import getpass
import os
import warnings
from contextlib import closing, suppress

from dpstats.foundations.errors import InvalidParameterError, MissingExtraError

PASSWORD = "DPSTATS_PASSWORD"
"""The environment's variable for programs, which cannot type."""
ROLES = ("analyst", "owner", "auditor", "admin")
_DESCRIPTION = """\
Add people to the service of a catalog, or show who they are. Later an administrator does this on the page "People".

  dpstats people catalog.toml                              who may sign in
  dpstats people catalog.toml --add olga --role owner admin    asks for a password, or takes DPSTATS_PASSWORD
  dpstats people catalog.toml --password olga              another password; ends all sign-ins
"""


def describe() -> str:
    """What the command does."""
    return _DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("settings", metavar="CATALOG", help="the settings of a catalog, such as catalog.toml")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--add", metavar="NAME", help="somebody new")
    what.add_argument("--password", metavar="NAME", help="somebody who gets another password")
    parser.add_argument("--role", nargs="+", choices=ROLES, default=[], help="what somebody new is; one or several")


def run(arguments: argparse.Namespace) -> int:
    """Add or show."""
    if arguments.add and not arguments.role:
        raise InvalidParameterError(f"say what {arguments.add} is: --role analyst, for example.")
    if arguments.role and not arguments.add:
        raise InvalidParameterError("--role says what somebody new is: name them with --add. The page People changes roles.")
    try:
        from dpstats.web.people.people import People
        from dpstats.web.people.roles import Role
        from dpstats.web.people.store import PeopleStore
        from dpstats.web.settings import read_settings
    except ImportError as error:
        raise MissingExtraError.about(f"the service needs {error.name}", "web") from None
    _, web = read_settings(arguments.settings)
    with closing(PeopleStore(web.people)) as store:
        people = People(store)
        if arguments.add:
            people.add(arguments.add, _password(), [Role(each) for each in arguments.role])
        elif arguments.password:
            people.change(arguments.password, password=_password())
        for each in people.all():
            print(f"{each.name}: {', '.join(sorted(role.value for role in each.roles))}{' (barred)' if each.is_barred else ''}")
    return 0


def _password() -> str:
    """The password in the environment, or one that is typed where nobody can read it."""
    given = os.environ.get(PASSWORD)
    if given is not None:
        return given
    with warnings.catch_warnings(), suppress(getpass.GetPassWarning, EOFError, OSError):
        warnings.simplefilter("error", getpass.GetPassWarning)  # comes first where there is no terminal
        return getpass.getpass("Password: ")
    raise InvalidParameterError(f"no password was typed: type it at a terminal, or set the environment variable {PASSWORD}.")
