"""A fork bomb with two fuses, for the sake of the machine: 2,048 processes at most, and they end by
themselves after a while."""

import contextlib
import os
import time

end = time.monotonic() + 3
for _ in range(11):  # times two
    with contextlib.suppress(OSError):
        os.fork()
while time.monotonic() < end:
    pass
