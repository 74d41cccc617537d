"""`python -m quartet`: the command line."""

from quartet.cli.main import main

main()
