"""What knows nothing of workflows: data, records, JSON, durations, calendars, errors."""
