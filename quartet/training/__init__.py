"""How networks are made from games of self-play: what plays, what lies between, what learns."""
