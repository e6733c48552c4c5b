"""Figures from collmark's CSV files: records reads and checks, style draws alike, the rest draw."""
