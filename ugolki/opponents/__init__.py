"""The model of the other players: their policies, what is believed of each, and what is remembered between moves."""
