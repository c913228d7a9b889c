"""How are the fields of GraphQL endpoints called?"""
