"""Images: folders of images, quantizers that return grids, and co-occurrence features."""

from propkernels.images.colors import KMeansColors
from propkernels.images.cooccurrence import GrayCooccurrence, LabelCooccurrence
from propkernels.images.gray_levels import GrayLevels
from propkernels.images.image_folder import ImageFolder, read_image_folder

__all__ = [
    "GrayCooccurrence",
    "GrayLevels",
    "ImageFolder",
    "KMeansColors",
    "LabelCooccurrence",
    "read_image_folder",
]
