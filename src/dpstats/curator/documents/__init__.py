"""Questions as documents: plain JSON that says all that a method call on a protected table says."""
