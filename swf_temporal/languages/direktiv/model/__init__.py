"""The model of a definition: what stands where, without behaviour."""
