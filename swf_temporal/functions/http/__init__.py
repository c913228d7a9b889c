"""HTTP: requests, answers and how values are written into them."""
