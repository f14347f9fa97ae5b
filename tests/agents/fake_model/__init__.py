"""A scripted model server, so that real agents can be driven offline.

It speaks Anthropic messages, OpenAI chat and responses, and Gemini, streaming or not, on one loopback port. What it
answers is scripted by directives in the last words of the person, such as `%slow=6%` (table in `script.py`).
"""
