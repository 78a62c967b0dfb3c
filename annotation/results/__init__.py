"""What people answered, without their names."""
