"""The outline of a workflow, in the words of the version that it is written in."""
