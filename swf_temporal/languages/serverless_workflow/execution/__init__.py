"""Running a definition on data and a host, independently of any engine."""
