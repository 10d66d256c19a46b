"""Takes customers' jobs, gives them to nodes, keeps what they make, and signs receipts it has checked."""
