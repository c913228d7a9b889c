"""Documents that describe services, and what stands in them."""
