"""What a gateway must not lose: SQLite for facts, files by hash for bytes. Written before anything is answered."""
