"""Very many events for one correlation key, more than its mailbox has room for."""
