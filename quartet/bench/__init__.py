"""The fingerprint of rules and search, and measurements of speed."""
