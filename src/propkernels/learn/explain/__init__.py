"""Why: contributions of nodes to decisions, and bins that two graphs share."""
