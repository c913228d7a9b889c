"""The draft of May 2020, in which workflows are made of tasks, and its parent, which calls them states."""
