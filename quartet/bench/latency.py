"""Old name of `tests.bench.latency`, an alias during 1.x."""

import runpy

runpy.run_module("tests.bench.latency", run_name=__name__, alter_sys=True)
