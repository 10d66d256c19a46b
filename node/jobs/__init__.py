"""Jobs of customers: found on chain, run on Ray, receipted."""
