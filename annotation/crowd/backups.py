"""Backs up a study's folder while its server runs."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from catsofa.annotation.crowd.databases import PLACE, STORE
from catsofa.annotation.crowd.people.background import STORE as BACKGROUND
from catsofa.annotation.study import Study
from catsofa.data.files import BadInput
from catsofa.data.files.folders import atomic_folder

LOCKS = {".open", ".forget", ".identity"}


def backup(study: Study, out: Path) -> None:
    """Copies the folder to `out`, which appears only when the copy is complete.

    Copies the databases first, each as a snapshot of one moment. The files beside them are therefore at least as new:
    each person in the copy also has the line that their payment needs.
    """
    folder = study.folder.resolve()
    if out.exists():
        raise ValueError(f"{out} is there already; name a folder that is not")
    if folder in out.resolve().parents:
        raise ValueError(f"{out} is inside the study; name a folder elsewhere, on another disk if possible")
    if (folder / PLACE).is_file():
        raise ValueError(f"the answers of {study.folder} are in PostgreSQL: copy them with pg_dump, and the folder too")
    with study.locked(), atomic_folder(out, lambda _: False) as part:
        databases = [folder / name for name in (STORE, BACKGROUND) if (folder / name).is_file()]
        for path in databases:
            (part / path.name).touch(0o600)
            with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part / path.name)) as copy:
                try:
                    source.backup(copy)
                    integrity = copy.execute("PRAGMA integrity_check").fetchone()[0]
                except sqlite3.OperationalError as error:
                    raise OSError(str(error)) from None
                except sqlite3.DatabaseError as error:
                    integrity = str(error)
            if integrity != "ok":
                raise BadInput(path, f"a damaged database ({integrity})", "an older copy")
        beside = {f"{path.name}{end}" for path in databases for end in ("", "-wal", "-shm", "-journal")}
        try:
            shutil.copytree(
                folder,
                part,
                dirs_exist_ok=True,
                ignore_dangling_symlinks=True,
                ignore=lambda where, names: {*names} & (beside | LOCKS),
            )
        except shutil.Error as error:
            raise OSError(error.args[0][0][2]) from None
        part.chmod(0o700)
