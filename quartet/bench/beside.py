"""Old name of `tests.bench.page_overhead`, an alias during 1.x."""

import runpy

runpy.run_module("tests.bench.page_overhead", run_name=__name__, alter_sys=True)
