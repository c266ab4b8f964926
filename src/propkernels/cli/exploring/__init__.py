"""Commands that write pages to explore."""
