"""The draft of November 2019, and the texts in its style until the spring of 2020."""
