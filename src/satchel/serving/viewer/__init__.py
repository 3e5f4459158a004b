"""The viewer: pages to look at what the commands answer, for a browser on this machine or one HTML file."""
