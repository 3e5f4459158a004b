"""Real fixes replayed: does a pack hold what they change, and what does it cost to see all of it?"""
