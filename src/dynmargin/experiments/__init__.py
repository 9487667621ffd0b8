"""The paper's experiments: its nine problems, its two tables beside ours, and figures."""
