"""A fork bomb with a fuse: it would die out by itself after a while, for the sake of the machine."""

import contextlib
import os
import time

end = time.monotonic() + 3
while time.monotonic() < end:
    with contextlib.suppress(OSError):
        os.fork()
