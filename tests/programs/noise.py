"""Write endlessly, without a newline, to the stream that the argument names."""

import os
import sys

stream = 1 if sys.argv[1] == "stdout" else 2
chunk = bytes(range(256)).replace(b"\n", b"") * 64
while True:
    os.write(stream, chunk)
