"""Old name of `tests.long.cluster`, an alias during 1.x."""

import runpy

runpy.run_module("tests.long.cluster", run_name=__name__, alter_sys=True)
