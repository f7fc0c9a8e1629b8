"""The pages: server-rendered templates, a style sheet and a little script."""
