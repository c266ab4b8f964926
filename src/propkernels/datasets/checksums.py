"""Sizes and SHA-256 digests of the archives that are downloaded.

They were computed from copies of ``NAME.zip`` in the layout in which the TUDataset site serves them. Whether
the site serves these very bytes today could not be checked when they were recorded: where it does not, a
download is refused, and ``allow_unverified=True`` takes it as it is.
"""

from __future__ import annotations

from typing import NamedTuple


class Checksum(NamedTuple):
    """What is known of an archive."""

    n_bytes: int
    sha256: str


CHECKSUMS = {
    "MUTAG": Checksum(24_437, "3d31485b6499d8245475b182d64c4f11351dc57c6580cf6f0dbe09456f078f70"),
    "NCI1": Checksum(801_916, "80efa2cb4a173eb0d66c3134f21182c33463b80c38bc57e6dd3f9767195eeae8"),
    "NCI109": Checksum(798_937, "142700ea4f97be38b858b692e11442654d886d2104e228b6df5aaa7c4b106e81"),
    "DD": Checksum(4_702_995, "7e752333215b4cda95b6b16828cc548dea5838f4c3719dcd42091f4ede151e4c"),
    "MSRC_9": Checksum(98_488, "8d7731e3f96dea97763ff3c2b4ef4ee6c6bb48a50273787a4a19eb656e766d5a"),
    "MSRC_21": Checksum(516_771, "d64547cd2fd10973b8a8546d3960a851a36691298995a40bc904ae7a7240ceed"),
    "FIRSTMM_DB": Checksum(3_101_328, "78a1e0eb52cd051f739e4e726043bb67f8b417aab545f2c2d5d0b09ce920be66"),
    "SYNTHETIC": Checksum(435_008, "1082d9d1251fbfa17792f6e774d8fe0b0bcc8d6ecf39d082cf742f9b2ba0f391"),
    "ENZYMES": Checksum(512_167, "fb5f58a5bfd0a2ce233e47961620107d548c793133ef983a25d18e145afb5c03"),
    "PROTEINS": Checksum(454_340, "b8364214d342a9bd65fa3564f7a04238c12d852dddc9211d723fd4494b115a1c"),
    "PROTEINS_full": Checksum(1_444_482, "fc7a82ea53d6ccafced705eb57ebe272eaec0128d4228b3f6491bfe5f61f2277"),
    "BZR": Checksum(274_471, "3dda8b989c47c09021efd5c7ba0cc1785df2c461848245bc3ca3400f1de494fe"),
    "COX2": Checksum(361_589, "52119c606c1bf1660b457c2bf078c55f039469f993d6aff2534330f676c2106a"),
    "DHFR": Checksum(598_472, "f761e6a03edd2c693ccfaadd52802ac404445da93d69c51bcba5728958d302bd"),
    "AIDS": Checksum(439_321, "69cb664b7a9ca89218cd1a316ae9724b37d46b00b074c3073cd8c162699b4e93"),
    "BBBP": Checksum(364_988, "06f2b11d70cca5851e8d07a9fa1fda0b8f925a4633011f7b3747580c85d253f3"),
    "HIV": Checksum(7_477_498, "a16c7894ce6692b760749d67abc653de58a14f2c127754bb79ca142718687e62"),
    "REDDIT-BINARY": Checksum(6_266_827, "bf6e25e8f8ebc6e534e052562be9789c707809aa52c10c83549726259e10a113"),
    "IMDB-BINARY": Checksum(574_339, "8666d97612e1e78596fba0ae0c6da60ca3e265b1f509bf95d2ad26d7bb1057bc"),
}
