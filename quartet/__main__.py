"""`python -m quartet`: the command line."""

import sys

try:
    from quartet.cli.main import main

    main()
except KeyboardInterrupt:  # while modules are imported
    sys.exit(130)
