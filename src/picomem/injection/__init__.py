"""What memory puts into an agent's context unasked: the index page, and beside a prompt what it is sure of."""
