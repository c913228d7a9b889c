"""Definitions that were written for SonataFlow, rewritten as the text of 0.8 has it.

SonataFlow reads what the text does not allow, evaluates texts that have no `${ }`, and runs some things otherwise. What
can be written so that it means the same here is rewritten; what cannot is reported.
"""
