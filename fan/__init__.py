"""Give one task to several coding agents at once, each in its own git worktree and tmux session."""

__version__ = "0.1.0"
