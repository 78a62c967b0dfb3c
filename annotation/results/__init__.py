"""The results of annotation: people's answers, without their names."""
