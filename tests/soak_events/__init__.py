"""A soak of events: none is lost and none is taken twice, whatever is killed, restarted and stalled on the way."""
