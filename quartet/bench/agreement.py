"""Old name of `tests.bench.agreement`, an alias during 1.x."""

import runpy

runpy.run_module("tests.bench.agreement", run_name=__name__, alter_sys=True)
