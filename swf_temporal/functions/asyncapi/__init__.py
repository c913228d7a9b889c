"""How are messages sent and received by AsyncAPI documents?"""
