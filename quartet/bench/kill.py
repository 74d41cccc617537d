"""Old name of `tests.long.kill`, an alias during 1.x."""

import runpy

runpy.run_module("tests.long.kill", run_name=__name__, alter_sys=True)
