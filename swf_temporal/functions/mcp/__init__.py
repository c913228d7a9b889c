"""MCP: tools, prompts and resources of servers of the Model Context Protocol."""
