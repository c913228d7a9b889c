"""Events between instances and the world outside."""
