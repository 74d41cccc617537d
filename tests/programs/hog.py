"""Holds as many megabytes as its argument says, half of them in a child process."""

import os
import sys
import time

os.fork()
memory = bytearray(int(sys.argv[1]) << 19)
memory[::4096] = b"x" * len(memory[::4096])
time.sleep(60)
