"""Images: folders of images, quantizers that return grids, and graphs of superpixels."""

from propkernels.images.image_folder import ImageFolder, read_image_folder
from propkernels.images.quantizers import GrayLevels, KMeansColors
from propkernels.images.superpixels import from_superpixels

__all__ = [
    "GrayLevels",
    "ImageFolder",
    "KMeansColors",
    "from_superpixels",
    "read_image_folder",
]
