"""The paper's problems, its published figures, its tables cell by cell, and pictures.

It may import `comparison`, `displays`, `progress`, `data` and everything below them.
"""
