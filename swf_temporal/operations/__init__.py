"""What is done to instances: start, list, change, retry, rerun, and answer tasks."""
