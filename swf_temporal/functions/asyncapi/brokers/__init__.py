"""Sending and receiving messages: one file for each protocol that an AsyncAPI document may name."""
