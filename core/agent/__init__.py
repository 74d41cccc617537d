"""The agent's side of the judges: how a program of ours hears, answers, is started and ends."""
