"""Who sits at the table: programs, built-in players, persons, and those whose moves a log tells."""
