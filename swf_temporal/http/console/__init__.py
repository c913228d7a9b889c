"""The console: pages of the gateway that show definitions, instances and tasks, to start, change and complete them."""
