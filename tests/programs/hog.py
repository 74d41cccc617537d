"""Hold N megabytes, half of them in a child process; the argument is N."""

import os
import sys
import time

os.fork()
memory = bytearray(int(sys.argv[1]) << 19)
memory[::4096] = b"x" * len(memory[::4096])
time.sleep(60)
