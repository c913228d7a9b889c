"""Fields of GraphQL endpoints."""
