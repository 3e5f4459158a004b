"""Further names of commands, of older systems and of agent tools: found on every surface, listed on none. One
file each."""
