"""From images to grids: quantize, read folders of images, and the co-occurrence baselines."""

from propkernels.images.cooccurrence import GrayCooccurrence, LabelCooccurrence
from propkernels.images.image_folder import ImageFolder, read_image_folder
from propkernels.images.quantizers import GrayLevels, KMeansColors

__all__ = [
    "GrayCooccurrence",
    "GrayLevels",
    "ImageFolder",
    "KMeansColors",
    "LabelCooccurrence",
    "read_image_folder",
]
