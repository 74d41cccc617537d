"""Old name of `tests.bench.endgames`, an alias during 1.x."""

import runpy

runpy.run_module("tests.bench.endgames", run_name=__name__, alter_sys=True)
