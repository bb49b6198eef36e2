"""Off-policy evaluation: what data alone say that a policy is worth."""
