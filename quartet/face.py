"""The name of `quartet.api` in version 1.0. It remains until 2.0."""

from quartet.api import Game

__all__ = ["Game"]
