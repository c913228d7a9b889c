"""How are messages sent and received? One file for each protocol that an AsyncAPI document may name."""
