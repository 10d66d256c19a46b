"""What kinds of jobs do on Ray beyond computing their units one after the other."""
