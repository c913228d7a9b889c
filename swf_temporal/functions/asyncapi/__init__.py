"""Operations of AsyncAPI documents: messages that are sent and received."""
