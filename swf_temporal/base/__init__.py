"""The foundation, independent of workflows: data, records, JSON, durations, calendars, errors."""
