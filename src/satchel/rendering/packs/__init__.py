"""The formats of a context pack: one file each, found by the plug-in door `renderer`."""
