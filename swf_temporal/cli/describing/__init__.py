"""What a workflow needs and does, as facts, as text, and as a diagram."""
