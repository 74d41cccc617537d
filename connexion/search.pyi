"""Principal variation search over Connexion; search.pxd says what compiled code finds here, Python
finds nothing."""
