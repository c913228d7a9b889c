"""The draft of May 2020, in which workflows consist of tasks, and its predecessor, which calls them states."""
