"""What is written in C: clock, bits, random numbers, huge pages."""
