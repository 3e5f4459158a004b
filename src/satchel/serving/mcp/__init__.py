"""The MCP server: the commands as tools, resources and a prompt, over standard input and output or HTTP."""
