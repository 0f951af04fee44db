"""Statistics: tests, corrections, analysis of variance, power, agreement. Arrays in, numbers out; no runs here."""
