"""The model of the other players: the policies they may have, what is believed, and its file."""
