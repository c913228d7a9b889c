"""HTTP: requests, answers, and the encoding of values in them."""
