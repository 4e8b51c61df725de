"""The wire formats of others: one module each, with the same names; none knows another."""
