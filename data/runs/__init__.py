"""What long runs share: their identity, Ray workers, asynchronous work."""
