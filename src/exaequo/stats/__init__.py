"""Statistics: tests of pairs and of all pairs, corrections, analysis of variance, power, agreement. Arrays in, numbers out; nothing here knows of runs."""
