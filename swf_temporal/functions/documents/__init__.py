"""Documents that describe services, and their parts."""
