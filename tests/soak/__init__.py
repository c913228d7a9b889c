"""A soak: many instances of everything, while workers are killed, the server restarts and the service fails."""
