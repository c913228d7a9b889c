"""What may the operator of a worker decide about calls?"""
