"""The TU Dortmund text layout."""
