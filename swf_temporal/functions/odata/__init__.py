"""How are the entity sets of OData services read?"""
