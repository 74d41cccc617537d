"""Old name of `tests.long.differential`, an alias during 1.x."""

import runpy

runpy.run_module("tests.long.differential", run_name=__name__, alter_sys=True)
