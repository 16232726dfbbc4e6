"""The inputs of matches as bytes on disk, and their re-simulation."""
