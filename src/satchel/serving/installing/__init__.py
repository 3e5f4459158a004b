"""How Satchel is put into the settings of other programs, and taken out again."""
