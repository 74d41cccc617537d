"""Games reviewed: which moves lost how much, to whose skill and to whose luck."""
