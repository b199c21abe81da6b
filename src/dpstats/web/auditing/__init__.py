"""What auditors see: the chain, its verification, and every account entry by entry."""
