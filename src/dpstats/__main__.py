"""`python -m dpstats`: the command line without the script."""

import sys

from dpstats.cli.main import main

sys.exit(main())
