"""Old name of `tests.bench.startup`, an alias during 1.x."""

import runpy

runpy.run_module("tests.bench.startup", run_name=__name__, alter_sys=True)
