"""Old name of `quartet.bench.endgames`, an alias during 1.x."""

import runpy

runpy.run_module("quartet.bench.endgames", run_name=__name__, alter_sys=True)
