"""Plain HTTP: functions that name a method and a URL themselves."""
