"""When does a workflow start by itself: from the texts of a schedule to times, and to what an engine can hold."""
