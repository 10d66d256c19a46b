"""The audit of the contracts: slither, Halmos, coverage and mutation behind `make audit`, one table at the end."""
