"""A fork bomb whose every process starts a new session, with two fuses: as many processes as
the argument says, and they end by themselves after a while."""

import os
import sys
import time

end = time.monotonic() + 20
left = int(sys.argv[1]) - 1
while left > 0 and time.monotonic() < end:
    half = (left + 1) // 2
    if os.fork() == 0:
        os.setsid()
        left = half - 1
    else:
        left -= half
while time.monotonic() < end:
    time.sleep(0.05)
