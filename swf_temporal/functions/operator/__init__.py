"""What the operator of a worker decides about calls."""
