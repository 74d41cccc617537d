"""Monte Carlo tree search over Connexion; tree.pxd says what compiled code finds here, Python finds
nothing."""
