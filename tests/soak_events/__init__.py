"""A soak of events: none is lost and none is taken twice, whatever is killed on the way."""
