"""Attacks on our own grader, by published patches on toy tasks: none may be called right."""
