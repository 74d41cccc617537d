"""Judges that speak to programs as the real judges do, and keep records of it; every player is a
child process."""
