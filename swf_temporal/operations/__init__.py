"""Operations on instances: start, list, change, retry, rerun, and complete tasks."""
