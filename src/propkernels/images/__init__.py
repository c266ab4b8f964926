"""Images: folders of images, quantizers that return grids, and graphs of superpixels."""

from propkernels.images.colors import KMeansColors
from propkernels.images.gray_levels import GrayLevels
from propkernels.images.image_folder import ImageFolder, read_image_folder
from propkernels.images.superpixels import from_superpixels

__all__ = [
    "GrayLevels",
    "ImageFolder",
    "KMeansColors",
    "from_superpixels",
    "read_image_folder",
]
