"""What the paper prints, what each cell costs, and sentences that explain single cells."""
