"""The command line: `quartet`, one command with sub-commands, one file for each."""
