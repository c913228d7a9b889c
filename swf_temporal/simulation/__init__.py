"""The host in this process: a virtual clock, scripted functions and events. It never imitates durability."""
