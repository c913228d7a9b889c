"""Rewriting definitions of 0.8 as DSL 1.0, which is another language: tasks in place of states."""
