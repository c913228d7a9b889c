"""How are the methods of gRPC services called?"""
