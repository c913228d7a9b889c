"""The draft of November 2019, and what was written in its manner until the spring of 2020."""
