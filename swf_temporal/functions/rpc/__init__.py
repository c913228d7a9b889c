"""Methods of gRPC services."""
