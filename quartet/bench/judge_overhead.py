"""Old name of `tests.bench.judge_overhead`, an alias during 1.x."""

import runpy

runpy.run_module("tests.bench.judge_overhead", run_name=__name__, alter_sys=True)
