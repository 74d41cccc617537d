"""Try forbidden actions, and write as JSON which of them succeeded. The environment names a secret
file, a file to write, and a port with a listener."""

import json
import os
import pathlib
import resource
import signal
import socket

secret, target, port = (os.environ[name] for name in ("SECRET", "TARGET", "PORT"))
found = {"processes": sum(path.name.isdigit() for path in pathlib.Path("/proc").iterdir())}
found["limit"] = resource.getrlimit(resource.RLIMIT_NPROC)[0]
for name, do in (
    ("reads", lambda: pathlib.Path(secret).read_text()),
    ("writes", lambda: pathlib.Path(target).write_text("x")),
    ("speaks", lambda: socket.create_connection(("127.0.0.1", int(port)), 5)),
    ("signals", lambda: os.kill(int(os.environ["JUDGE"]), signal.SIGUSR1)),
):
    try:
        do()
        found[name] = True
    except OSError:
        found[name] = False
pathlib.Path("output.txt").write_text(json.dumps(found))
