"""A well-behaved agent that needs no account: `python -m fan.demo`.

It looks and acts like a coding agent in a terminal, edits and commits one file a turn, keeps a
transcript and reports its state, so that everything `fan` does can be tried and tested with it.
`FAN_DEMO` chooses how it misbehaves (see `behaviours`). It imports nothing else of `fan`.
"""
