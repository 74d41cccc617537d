"""Opponents to measure against; they must never change."""
