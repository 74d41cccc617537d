"""Programs as child processes: started, spoken to, limited, and ended with all that they
started."""
