"""How is Python called that definitions name or bring along?"""
