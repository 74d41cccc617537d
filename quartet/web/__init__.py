"""The page: a server for one person, on their machine, and what it shows."""
