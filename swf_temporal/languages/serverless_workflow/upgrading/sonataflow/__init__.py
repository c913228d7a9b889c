"""Rewriting definitions for SonataFlow in accordance with the text of 0.8.

SonataFlow accepts definitions that the text does not allow, evaluates texts without `${ }`, and has other semantics in
some cases. What can be rewritten to mean the same here is rewritten; the rest is reported.
"""
