"""`python -m dpstats`: the command line without the script."""

from dpstats.cli.main import run

run()
