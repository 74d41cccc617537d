"""What must not change unnoticed (the fingerprint), and how fast things are."""
