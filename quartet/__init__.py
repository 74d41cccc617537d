"""The workshop: judge, arena, training, benches and the command line `quartet`."""
