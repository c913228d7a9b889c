"""What is published: the package and what it is shown with, and the steps of a release."""
