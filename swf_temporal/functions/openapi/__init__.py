"""How are the operations of OpenAPI documents called?"""
