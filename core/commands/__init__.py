"""What all commands have in common: errors in one line, and options without impossible numbers."""
