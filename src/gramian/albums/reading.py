"""From a folder or .zip of image files, an .npz file or an array to images of one size with pixels from 0 to 1.

Pillow, which the extra ``app`` brings, decodes and resizes; it is imported when it is needed.
"""

from __future__ import annotations

import os
import warnings
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from gramian.checks import whole
from gramian.exploration.wording import count
from gramian.typing import Array

__all__ = ["Images", "read_images"]

_ENDINGS = (".png", ".jpg", ".jpeg")
_NAMED = ("x", "images")  # names of arrays that are taken first
_SIDE, _SMALLEST, _LARGEST_OWN, _LARGEST = 28, 8, 32, 128
_GREYS = 255.0
_LARGEST_FILE = 100_000_000  # bytes of a member of a .zip
_COLOURLESS = 4  # of 255: what JPEG may add to grey
_LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)


@dataclass(frozen=True)
class Images:
    """Images of one size.

    Attributes
    ----------
    source : str
    names : list of str (n,)
        Names of the files, or the numbers of the images, from 1.
    pixels : ndarray of float32 (n, channels, height, width)
        From 0 to 1.
    levels : (black, white)
        Their values in the source.
    notes : list of str
        What was done to the images.
    """

    source: str
    names: list[str]
    pixels: Array
    levels: tuple[float, float]
    notes: list[str]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        channels, height, width = self.pixels.shape[1:]
        return channels, height, width

    @property
    def rows(self) -> Array:
        """One row per image."""
        return self.pixels.reshape(len(self.pixels), -1)

    def picture(self, row: int) -> Array:
        """One image in 256 values: (height, width), or (height, width, 3) in colour."""
        values = np.round(np.clip(self.pixels[row], 0, 1) * _GREYS).astype(np.uint8)
        return values[0] if len(values) == 1 else np.moveaxis(values, 0, 2)


def read_images(
    source: Any,
    *,
    size: int | None = None,
    shape: Sequence[int] | None = None,
    levels: Sequence[float] | None = None,
) -> Images:
    """Read images and bring them to one size.

    Parameters
    ----------
    source : path or array
        A folder or a .zip with PNG and JPEG files, also in subfolders; an .npz file with an array of images; or such an
        array: (n, height, width), (n, height, width, channels) or (n, pixels) of squares.
    size : int, optional
        Width and height that the images get. By default their own, if they all have the same and no side is longer
        than 32, else 28.
    shape : (channels, height, width), optional
        To read images for a model: those of the model, in place of ``size``.
    levels : (black, white), optional
        To read arrays for a model: the values of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> images = read_images(load_digits().images)
    >>> images.shape, images.levels
    ((1, 8, 8), (0.0, 16.0))
    """
    if size is not None:
        whole(size, "size", least=_SMALLEST, most=_LARGEST)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            return _read_folder(path, size, shape)
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist; name a folder of images, a .zip of them or an .npz file")
        if path.suffix.lower() == ".zip":
            return _read_zip(path, size, shape)
        if path.suffix.lower() != ".npz":
            raise ValueError(
                f"{path.name} is not a folder, a .zip or an .npz file; name a folder or .zip of PNG or JPEG images, or "
                "an .npz"
            )
        name, values, notes = *_array_in(path), list[str]()
        if name not in (None, ""):
            notes.append(f"The array {name!r} of {path.name} was read.")
        return _from_array(path.name, values, size, shape, levels, notes)
    found = _as_images(np.asarray(source))
    if found is None:
        raise ValueError(
            f"an array of shape {np.shape(source)} and type {np.asarray(source).dtype} holds no images; pass numbers "
            "of shape (n, height, width), (n, height, width, channels) or (n, pixels) of squares"
        )
    return _from_array("the array", found, size, shape, levels, [])


# Files ---------------------------------------------------------------------------------------------------------------


def _read_folder(folder: Path, size: int | None, shape: Sequence[int] | None) -> Images:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    names = [path.relative_to(folder).as_posix() for path in paths]
    return _read_files(folder.resolve().name or str(folder), str(folder), names, folder.joinpath, size, shape)


def _read_zip(path: Path, size: int | None, shape: Sequence[int] | None) -> Images:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise ValueError(f"{path.name} is damaged or no .zip file; pack the images again") from error

    def member(name: str) -> BytesIO:
        if archive.getinfo(name).file_size > _LARGEST_FILE:
            raise ValueError(f"it has more than {_LARGEST_FILE // 10**6} MB")
        try:
            return BytesIO(archive.read(name))
        except (zipfile.BadZipFile, zlib.error, RuntimeError) as error:  # damaged, encrypted, packed in another way
            raise ValueError(str(error)) from error

    with archive:
        names = sorted({name for name in archive.namelist() if not name.endswith("/")})
        seen = [name for name in names if not any(part.startswith((".", "__MACOSX")) for part in name.split("/"))]
        return _read_files(path.name, path.name, seen, member, size, shape)


def _read_files(
    source: str,
    where: str,
    everything: Sequence[str],
    fetch: Callable[[str], Path | BytesIO],
    size: int | None,
    shape: Sequence[int] | None,
) -> Images:
    """The images among some files, of which ``fetch`` gives what Pillow opens."""
    names = [name for name in everything if Path(name).suffix.lower() in _ENDINGS]
    if not names:
        what = f"holds {count(len(everything), 'file')}, but no image" if everything else "is empty"
        raise ValueError(f"{where} {what}; name a folder or .zip with files that end in .png, .jpg or .jpeg")
    notes = []
    if others := len(everything) - len(names):
        notes.append(f"{count(others, 'file')} that {'is' if others == 1 else 'are'} no PNG or JPEG left out.")
    sizes = [_opened(fetch, name, lambda image: image.size) for name in names]
    width, height = _target(set(sizes), size, shape, notes)
    pixels = np.empty((len(names), height, width, 3), np.uint8)
    for place, name in enumerate(names):
        pixels[place] = _opened(fetch, name, lambda image: _decoded(image, width, height))
    colourless = int((pixels.max(axis=3) - pixels.min(axis=3)).max()) <= _COLOURLESS
    channels = (1 if colourless else 3) if shape is None else shape[0]
    scaled = _with_channels(np.moveaxis(pixels, 3, 1), channels) / np.float32(_GREYS)
    return Images(source, names, scaled, (0.0, _GREYS), notes)


def _opened(fetch: Callable[[str], Path | BytesIO], name: str, look: Any) -> Any:
    """What ``look`` sees in an image file; an error that names the file if it cannot be read."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            warnings.filterwarnings("ignore", category=UserWarning, module="PIL")  # doubtful metadata
            with Image.open(fetch(name), formats=("PNG", "JPEG")) as image:
                return look(image)
    except UnidentifiedImageError as error:
        raise ValueError(f"{name} is not a PNG or JPEG image, or is damaged; repair it or take it out") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ValueError(f"{name} has too many pixels; make it smaller or take it out") from error
    except (OSError, SyntaxError, ValueError) as error:  # Pillow's errors of damaged files
        why = " ".join(str(error).split())[:100]
        raise ValueError(f"{name} cannot be read ({why}); repair it or take it out") from error


def _decoded(image: Any, width: int, height: int) -> Array:
    """An image in 256 values of red, green and blue, upright, on white where it is transparent, of the given size."""
    from PIL import Image, ImageOps

    image.draft("RGB", (4 * width, 4 * height))  # JPEG: decode no more detail than is kept
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith(("I", "F")):  # 16 bits of grey
        image = Image.fromarray(np.clip(np.asarray(image, np.float32) / 257.0, 0, _GREYS).astype(np.uint8))
    elif image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear)
    image = image.convert("RGB")
    if image.size != (width, height):
        image = image.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(image)


# Arrays --------------------------------------------------------------------------------------------------------------


def _array_in(path: Path) -> tuple[str | None, Array]:
    """The name and the values of the first array of images of an .npz file; no name if there is only one array."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            names = sorted(arrays.files, key=lambda name: name.lower() not in _NAMED)
            seen = []
            for name in names:
                try:
                    values = arrays[name]
                except ValueError:  # Python objects, which are not read
                    seen.append(f"{name} of objects")
                    continue
                found = _as_images(values)
                if found is not None:
                    return (name if len(names) > 1 else None), found
                seen.append(f"{name} {values.shape}")
    except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path.name} is damaged or not an .npz file; write it with numpy.savez") from error
    held = ", ".join(seen[:5]) or "nothing"
    raise ValueError(
        f"{path.name} holds no array of images but {held}; save numbers of shape (n, height, width), "
        "(n, height, width, channels) or (n, pixels) of squares under the name X"
    )


def _as_images(values: Array) -> Array | None:
    """An array as (n, channels, height, width); None if it holds no images."""
    if values.dtype.kind not in "biuf" or not values.size:
        return None
    if values.ndim == 2:
        side = round(values.shape[1] ** 0.5)
        square = side > 1 and side * side == values.shape[1]
        return values.reshape(len(values), 1, side, side) if square else None
    if values.ndim == 3:
        return values[:, None]
    if values.ndim == 4 and values.shape[3] in (1, 3, 4):
        return np.moveaxis(values[..., :3] if values.shape[3] == 4 else values, 3, 1)
    return values if values.ndim == 4 and values.shape[1] in (1, 3) else None


def _from_array(
    source: str,
    values: Array,
    size: int | None,
    shape: Sequence[int] | None,
    known: Sequence[float] | None,
    notes: list[str],
) -> Images:
    values = values.astype(np.float32) if values.dtype != np.float32 else values
    if not np.isfinite(values).all():
        raise ValueError(f"{source} has pixels that are NaN or infinite; fill them before")
    black, white = _levels(source, values, known)
    if known is None and (black, white) not in ((0.0, 1.0), (0.0, _GREYS)):
        notes.append(f"Pixels from {black:g} to {white:g} were scaled to black and white.")
    width, height = _target({(values.shape[3], values.shape[2])}, size, shape, notes)
    if values.shape[2:] != (height, width):
        values = _resized(values, width, height)
    values = _with_channels(values, values.shape[1] if shape is None else shape[0])
    scaled = np.clip((values - np.float32(black)) / np.float32(white - black), 0, 1)
    return Images(source, [str(k) for k in range(1, len(values) + 1)], scaled, (black, white), notes)


def _levels(source: str, values: Array, known: Sequence[float] | None) -> tuple[float, float]:
    """The values of black and white: from 0 to 1 or 255 where they are so, else the least and the most there is."""
    least, most = float(values.min()), float(values.max())
    if least >= 0 and most <= 1:
        return 0.0, 1.0
    if known is not None:
        black, white = known
        if least >= black and most <= white:
            return float(black), float(white)
        if least < 0 or most > _GREYS or (black, white) != (0.0, 1.0):
            raise ValueError(
                f"{source} has pixels from {least:g} to {most:g}, but those of the model go from {black:g} to "
                f"{white:g}; scale them as those were"
            )
        return 0.0, _GREYS
    if least >= 0:
        return 0.0, _GREYS if _GREYS / 2 < most <= _GREYS else most
    return least, most if most > least else least + 1.0


def _resized(values: Array, width: int, height: int) -> Array:
    from PIL import Image

    found = np.empty((*values.shape[:2], height, width), np.float32)
    for place in np.ndindex(values.shape[:2]):
        found[place] = Image.fromarray(values[place]).resize((width, height), Image.Resampling.BILINEAR)
    return found


# Both ----------------------------------------------------------------------------------------------------------------


def _target(
    sizes: set[tuple[int, int]], size: int | None, shape: Sequence[int] | None, notes: list[str]
) -> tuple[int, int]:
    """The width and height that all images get; what changes is noted."""
    if shape is not None:
        width, height = int(shape[2]), int(shape[1])
    elif size is not None:
        width = height = size
    elif len(sizes) == 1 and all(_SMALLEST <= side <= _LARGEST_OWN for side in next(iter(sizes))):
        width, height = next(iter(sizes))
    else:
        width = height = _SIDE
    if len(sizes) > 1:
        notes.append(f"The images have {len(sizes):,} different sizes; all were resized to {width}×{height} pixels.")
    elif sizes != {(width, height)}:
        own = next(iter(sizes))
        notes.append(f"The images were resized from {own[0]}×{own[1]} to {width}×{height} pixels.")
    return width, height


def _with_channels(values: Array, channels: int) -> Array:
    """Images (n, c, height, width) in grey or in three colours, as floats."""
    values = values.astype(np.float32, copy=False)
    if values.shape[1] == channels:
        return values
    if channels == 1:
        return np.einsum("nchw,c->nhw", values, _LUMINANCE)[:, None]
    return np.repeat(values, channels, axis=1)
