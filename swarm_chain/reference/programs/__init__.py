"""Programs that jobs run: each a list of units that node and judges compute alike."""
