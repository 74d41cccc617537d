"""Exit immediately and leave processes behind, in the ways that the first argument names."""

import os
import sys
import time

for how in sys.argv[1].split("+"):
    child = os.fork()
    if child == 0:
        if how == "daemon":
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
        time.sleep(60)
        os._exit(0)
    if how == "daemon":  # its parent has to be gone before we are, or it is counted, too
        os.waitpid(child, 0)
