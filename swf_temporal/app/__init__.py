"""What puts hosts, functions and events together: workers, the development server, runs, scenarios. A library."""
