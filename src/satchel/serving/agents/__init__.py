"""How agents are served: the commands as tools, their answers as text and small structured content."""
