"""Who uses the service: people with roles, their passwords, sign-ins and tokens."""
