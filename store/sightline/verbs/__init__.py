"""What agents and people can ask for, a module for each verb. Doors call these, and add nothing."""
