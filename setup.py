"""Says which Python is needed, before pip looks for packages that would fit an older one.

What is built is described in pyproject.toml. Older versions of pip, such as the one that comes with Python 3.10, reject a folder
by its `requires-python` only after they have tried all versions of its dependencies, which takes many minutes where an extra is
asked for (`pip install '.[files]'`).
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older Python is the case that this is for
    sys.exit("dpstats needs Python 3.11 or newer, and this is Python {}.{}.".format(*sys.version_info[:2]))

from setuptools import setup

setup()
