"""Names of older systems for commands: found on every surface, listed on none. One file each."""
