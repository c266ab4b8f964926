"""Commands that say why a model decides as it does."""
