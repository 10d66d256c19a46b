"""Links between drawn peers: the echo, the pings, and the reports both ends sign."""
