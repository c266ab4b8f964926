"""Images: folders of images, and quantizers that return grids."""

from propkernels.images.colors import KMeansColors
from propkernels.images.gray_levels import GrayLevels
from propkernels.images.image_folder import ImageFolder, read_image_folder

__all__ = [
    "GrayLevels",
    "ImageFolder",
    "KMeansColors",
    "read_image_folder",
]
