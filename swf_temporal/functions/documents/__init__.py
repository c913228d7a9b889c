"""Where are the documents that describe services, and what stands in them?"""
