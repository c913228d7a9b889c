"""A soak of brokers: what is lost and doubled while they are killed and stalled."""
