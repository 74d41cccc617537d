"""Code in C: clock, bits, atomic numbers, random numbers, huge pages, usable cores."""
