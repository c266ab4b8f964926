"""Images as data sets: textures, leaves, plants and digits."""
