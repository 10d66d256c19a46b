"""What the HTTP services share: errors and JSON read alike. Only services import it: the base install has no web server."""
