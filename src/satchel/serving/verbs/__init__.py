"""The words of the command line that serve, install or watch; one file each."""
