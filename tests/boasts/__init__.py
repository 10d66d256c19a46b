"""Demo liars, a module a category: what claims more than there is."""
