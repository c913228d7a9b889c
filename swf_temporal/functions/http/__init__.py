"""How are requests sent over HTTP, and read what comes back?"""
