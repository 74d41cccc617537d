"""A frozen opponent of Ugolki: a max^n tree search by UCB1 over a static evaluation, without networks."""
