"""Who does a call say that it is?"""
