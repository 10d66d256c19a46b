"""What an epoch pays and what missed service levels cost: pure integer functions (economics.md, Epoch reward)."""
