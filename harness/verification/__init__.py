"""What a stranger can check of a bundle without running anything of it."""
