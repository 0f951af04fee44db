"""Statistics: paired tests, corrections, power, agreement. Arrays in, numbers out; nothing here knows of runs."""
