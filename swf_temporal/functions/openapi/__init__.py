"""Operations of OpenAPI documents."""
