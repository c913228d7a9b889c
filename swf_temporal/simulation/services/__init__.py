"""The services that a scenario describes, which its functions really call."""
