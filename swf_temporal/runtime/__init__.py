"""Running a workflow, whatever language its definition is written in."""
