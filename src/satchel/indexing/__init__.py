"""From chunks to an index: plan what to compute, keep and drop, compute it, and write it as one
generation."""
