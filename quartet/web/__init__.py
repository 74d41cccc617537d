"""The page: a server for one user and their guests, and what it shows."""
