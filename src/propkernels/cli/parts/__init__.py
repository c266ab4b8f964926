"""Commands on databases in files, part by part."""
