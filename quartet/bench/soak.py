"""Old name of `tests.long.soak`, an alias during 1.x."""

import runpy

runpy.run_module("tests.long.soak", run_name=__name__, alter_sys=True)
