"""Entity sets of OData services."""
