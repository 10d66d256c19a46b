"""What the Makefile calls: generators and checks of committed files."""
