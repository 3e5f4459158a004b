"""Install Satchel into the settings of agent clients, uninstall it, and check the installation."""
