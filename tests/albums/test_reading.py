"""Images of any size and kind become squares of pixels from 0 to 1; what cannot is named."""

import zipfile

import numpy as np
import pytest
from PIL import Image

from albums.digits import digits, write_digits
from gramian.albums import read_images


def test_a_folder_an_archive_and_an_array_hold_the_same(tmp_path):
    images = digits(12)[0]
    np.savez(tmp_path / "d.npz", y=np.arange(12), other=np.zeros((3, 5)), X=images)
    arrays = [read_images(images), read_images(images.reshape(12, 64)), read_images(images[..., None])]
    arrays.append(read_images(tmp_path / "d.npz"))
    for found in arrays:
        np.testing.assert_allclose(found.pixels, images[:, None] / 16, rtol=1e-6)
        assert found.names == [str(k) for k in range(1, 13)]
    assert "'X' of d.npz" in arrays[-1].notes[0]
    folder = read_images(write_digits(tmp_path / "digits"))
    np.testing.assert_allclose(folder.pixels, images[:, None] / 16, atol=0.5 / 255 + 1e-6)
    assert (folder.source, folder.names[:2], folder.notes) == ("digits", ["000.png", "001.png"], [])
    np.testing.assert_array_equal(folder.picture(3), np.round(images[3] / 16 * 255))


def packed(path, folder, **files):
    """A .zip of a folder and further files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for image in folder.iterdir():
            archive.write(image, f"scans/{image.name}")
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return path


def test_a_zip_holds_what_its_folder_holds(tmp_path):
    folder = write_digits(tmp_path / "digits", 3)
    path = packed(tmp_path / "d.zip", folder, readme_txt="no image", **{"__MACOSX/x_png": "resources"})
    found = read_images(path)
    np.testing.assert_array_equal(found.pixels, read_images(folder).pixels)
    assert (found.source, found.names[0]) == ("d.zip", "scans/000.png")
    assert found.notes == ["1 file that is no PNG or JPEG left out."]


def test_zips_that_cannot_be_read_are_named(tmp_path, monkeypatch):
    folder = write_digits(tmp_path / "digits", 1)
    path = packed(tmp_path / "d.zip", folder, bad_png="no image")
    with pytest.raises(ValueError, match=r"bad\.png is not a PNG or JPEG image"):
        read_images(path)
    content = bytearray(packed(path, folder).read_bytes())
    content[60] ^= 255  # within the packed image
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"000\.png cannot be read"):
        read_images(path)
    content = bytearray(packed(path, folder).read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # says that it is encrypted
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"000\.png cannot be read .*encrypted"):
        read_images(path)
    path.write_bytes(content[:50])
    with pytest.raises(ValueError, match=r"d\.zip is damaged or no .zip file"):
        read_images(path)
    with pytest.raises(ValueError, match=r"d\.zip is empty"):
        read_images(packed(path, write_digits(tmp_path / "none", 0)))
    monkeypatch.setattr("gramian.albums.reading._LARGEST_FILE", 10)
    with pytest.raises(ValueError, match=r"000\.png cannot be read .it has more than 0 MB"):
        read_images(packed(path, folder))


def test_sizes_are_made_one_and_that_is_said(tmp_path):
    folder = write_digits(tmp_path / "digits", 3)
    write_digits(folder / "large", 2, size=(40, 60))
    (folder / "readme.txt").write_text("no image")
    found = read_images(folder)
    assert found.shape == (1, 28, 28)
    assert found.names[-1] == "large/001.png"
    assert "2 different sizes; all were resized to 28×28" in " ".join(found.notes)
    assert found.notes[0] == "1 file that is no PNG or JPEG left out."
    assert read_images(folder, size=16).shape == (1, 16, 16)
    wide = read_images(np.full((2, 100, 80), 7.0), size=8)
    np.testing.assert_allclose(wide.pixels, 1)
    assert "from 80×100 to 8×8" in " ".join(wide.notes)


def test_colours_transparency_and_depth(tmp_path):
    red = np.zeros((8, 8, 3), np.uint8)
    red[..., 0] = 255
    Image.fromarray(red).save(tmp_path / "red.png")
    Image.fromarray(np.full((8, 8), 65535, np.uint16)).save(tmp_path / "deep.png")
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "clear.png")
    Image.fromarray(np.full((8, 8), 128, np.uint8)).save(tmp_path / "grey.JPG", "JPEG")
    found = read_images(tmp_path)
    by = dict(zip(found.names, found.pixels.mean(axis=(2, 3)), strict=True))
    for name, colour in {"red": (1, 0, 0), "deep": (1, 1, 1), "clear": (1, 1, 1)}.items():
        np.testing.assert_allclose(by[f"{name}.png"], colour, atol=1e-6)
    np.testing.assert_allclose(by["grey.JPG"], 128 / 255, atol=0.01)
    assert found.picture(0).shape == (8, 8, 3)
    grey = read_images(tmp_path, shape=(1, 8, 8))
    np.testing.assert_allclose(grey.pixels[found.names.index("red.png")], 0.299, atol=1e-6)
    assert read_images(digits(2)[0], shape=(3, 8, 8)).shape == (3, 8, 8)


@pytest.mark.parametrize(
    ("values", "known", "levels"),
    [
        ([0, 0.5], None, (0, 1)),
        ([3, 200], None, (0, 255)),
        ([2, 16], None, (0, 16)),
        ([-1, 1], None, (-1, 1)),
        ([-2, -2], None, (-2, -1)),
        ([0, 9], (0, 16), (0, 16)),
        ([0, 0.5], (0, 255), (0, 1)),
        ([0, 90], (0, 1), (0, 255)),
    ],
)
def test_black_and_white_are_found_or_those_of_the_model(values, known, levels):
    found = read_images(np.resize(values, (2, 8, 8)), levels=known)
    assert found.levels == levels
    assert found.pixels.min() >= 0
    assert found.pixels.max() <= 1


def test_what_holds_no_images_is_refused(tmp_path):
    def refused(source, **options):
        with pytest.raises(ValueError) as error:
            read_images(source, **options)
        return str(error.value)

    (tmp_path / "empty").mkdir()
    assert "is empty" in refused(tmp_path / "empty")
    (tmp_path / "empty" / "a.txt").write_text("a")
    assert "holds 1 file, but no image" in refused(tmp_path / "empty")
    assert "a.txt is not a folder, a .zip or an .npz file" in refused(tmp_path / "empty" / "a.txt")
    folder = write_digits(tmp_path / "digits", 2, size=(64, 64))
    (folder / "bad.png").write_bytes(b"no image")
    assert "bad.png is not a PNG or JPEG image" in refused(folder)
    (folder / "bad.png").write_bytes((folder / "000.png").read_bytes()[:90])
    assert "bad.png cannot be read" in refused(folder)
    np.savez(tmp_path / "no.npz", y=np.arange(5), Z=np.zeros((4, 7)), o=np.array([{}], object))
    assert "no array of images but y (5,), Z (4, 7), o of objects" in refused(tmp_path / "no.npz")
    (tmp_path / "bad.npz").write_bytes(b"PK no zip")
    assert "damaged or not an .npz" in refused(tmp_path / "bad.npz")
    assert "holds no images" in refused(np.zeros(5))
    assert "NaN" in refused(np.full((2, 8, 8), np.nan))
    assert "size=4" in refused(folder, size=4)
    assert "those of the model go from 0 to 16" in refused(np.full((2, 8, 8), 99.0), levels=(0, 16))
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_images(tmp_path / "nowhere")


def test_an_image_of_too_many_pixels_is_named(tmp_path, monkeypatch):
    folder = write_digits(tmp_path / "digits", 1)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40)
    with pytest.raises(ValueError, match=r"000.png has too many pixels"):
        read_images(folder)
