import hashlib
import io
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from test_tu import TINY, changed, check_tiny, write_folder, write_zip

from graphmover.datasets import catalogue, load_dataset
from graphmover.datasets import home as _home

#: As many graphs as the catalogue says, most of them without nodes.
MUTAG = changed(graph_labels="-1\n1\n" * 94)


def zip_bytes(name="MUTAG", files=MUTAG):
    memory = io.BytesIO()
    write_zip(memory, files, name=name, inside=f"{name}/")
    return memory.getvalue()


WHOLE = zip_bytes()
OTHERS = {
    "html": b"<html><body>We are moving house</body></html>",
    "changed": WHOLE[:-22] + b"PK\x05\x06" + WHOLE[-18:-2] + b"\x03\x00new",
    "other": zip_bytes("OTHER"),
    "fewer": zip_bytes(files=TINY),
    "more": zip_bytes(files=changed(graph_labels="1\n" * 189)),
    "uncounted": zip_bytes(files=changed(graph_labels=None)),
    "malformed": zip_bytes(files=changed(graph_labels="1\nx\n")),
    "real": zip_bytes(files=changed(graph_labels=None, graph_attributes="1.5\n" * 188)),
}


class Answers(BaseHTTPRequestHandler):
    """Answers as the first folder of the path says."""

    def do_GET(self):
        self.server.asked.append(self.path)
        folder = self.path.split("/")[1]
        body, status, length = WHOLE, 200, None
        if folder == "missing":
            body, status = b"no such file", 404
        elif folder == "endless":
            self.send_response(200)
            self.end_headers()
            self.send_without_end()
            return
        elif folder in OTHERS:
            body = OTHERS[folder]
        elif folder == "broken":
            body, length = WHOLE[: len(WHOLE) // 2], len(WHOLE)
        elif folder == "short":  # cut, but by a server that claims no more
            body = WHOLE[: len(WHOLE) // 2]
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_without_end(self):
        try:
            while True:
                self.wfile.write(WHOLE * 100)
        except ConnectionError:
            self.server.stopped.set()

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked, server.stopped = [], threading.Event()
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def mirrors(server, monkeypatch):
    def choose(*folders):
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(_home, "MIRRORS", tuple(f"{address}/{f}/" for f in folders))

    return choose


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def check_downloaded(data):
    assert data.name == "MUTAG"
    assert data.graphs.node_counts.tolist() == [2, 2, 0, 1] + [0] * 184


def test_mirrors_are_folders_on_safe_ground():
    assert all(mirror.startswith("https://") and mirror.endswith("/") for mirror in _home.MIRRORS)


def test_a_name_is_downloaded_once_with_a_progress_bar(tmp_path, server, mirrors, capsys, terminal):
    mirrors("good")
    home = tmp_path / "new" / "home"
    check_downloaded(load_dataset("MUTAG", data_home=home))
    assert names(home) == ["MUTAG.zip", "MUTAG.zip.sha256"]
    digest = hashlib.sha256(WHOLE).hexdigest()
    assert (home / "MUTAG.zip.sha256").read_text() == f"{digest}  MUTAG.zip\n"
    assert "100%" in capsys.readouterr().err
    check_downloaded(load_dataset("MUTAG", data_home=home))
    assert server.asked == ["/good/MUTAG.zip"]


def test_downloads_go_where_the_environment_says_or_to_the_cache(tmp_path, mirrors, monkeypatch):
    mirrors("good")
    monkeypatch.setenv("GRAPHMOVER_DATA", str(tmp_path / "named"))
    check_downloaded(load_dataset("MUTAG"))
    monkeypatch.delenv("GRAPHMOVER_DATA")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "cache" / project)
    check_downloaded(load_dataset("MUTAG"))
    assert names(tmp_path / "named") == names(tmp_path / "cache" / "graphmover")


@pytest.mark.parametrize("first", ["missing", "html", "broken", "short", "other", "fewer"])
def test_the_next_mirror_is_tried(tmp_path, server, mirrors, first):
    mirrors(first, "good")
    check_downloaded(load_dataset("MUTAG", data_home=tmp_path))
    assert server.asked == [f"/{first}/MUTAG.zip", "/good/MUTAG.zip"]
    assert names(tmp_path) == ["MUTAG.zip", "MUTAG.zip.sha256"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("missing", "404 Not Found$"),
        ("html", r"not a complete zip; it starts with b'<html><body>We"),
        ("broken", "IncompleteRead|not a complete zip"),
        ("short", "not a complete zip"),
        ("other", r"holds no MUTAG_A\.txt"),
        ("fewer", "the downloaded set has 5 graphs, but the catalogue says 188$"),
        ("more", "the downloaded set has 189 graphs, but the catalogue says 188$"),
        ("uncounted", "holds neither graph_labels nor graph_attributes$"),
        ("malformed", r"graph_labels\.txt, line 2: "),
    ],
)
def test_failed_downloads_leave_nothing_and_say_what_to_do(tmp_path, mirrors, answer, reason):
    mirrors(answer)
    where = (
        rf"no data set 'MUTAG' in {re.escape(str(tmp_path))}.*put it there.*/{answer}/MUTAG\.zip: "
    )
    with pytest.raises(ConnectionError, match=f"{where}.*(?:{reason})"):
        load_dataset("MUTAG", data_home=tmp_path)
    assert names(tmp_path) == []


def test_a_set_of_real_targets_is_counted_too(tmp_path, mirrors):
    mirrors("real")
    assert load_dataset("MUTAG", data_home=tmp_path).target.tolist() == [1.5] * 188


def test_sets_that_were_not_downloaded_are_not_counted(tmp_path, server, mirrors):
    mirrors("good")
    write_zip(tmp_path / "MUTAG.zip", name="MUTAG", inside="")
    assert len(load_dataset("MUTAG", data_home=tmp_path).graphs) == 5
    assert server.asked == []


@pytest.mark.parametrize(("given", "limit"), [("0.5", "0.5"), (None, "2.0")])
def test_downloads_end_at_a_limit(tmp_path, server, mirrors, monkeypatch, given, limit):
    mirrors("endless")
    monkeypatch.setattr(_home, "_SPARE_BYTES", 0)  # the rest is what the catalogue announces
    monkeypatch.setattr(_home, "_BYTES_PER_NUMBER", 2e6 / _numbers_of_mutag())
    if given:
        monkeypatch.setenv(_home.LIMIT_VARIABLE, given)
    where = rf"/endless/MUTAG\.zip: the download was stopped at the limit of {limit} MB"
    with pytest.raises(ConnectionError, match=rf"{where}.* set .*GRAPHMOVER_MAX_DOWNLOAD_MB$"):
        load_dataset("MUTAG", data_home=tmp_path)
    assert names(tmp_path) == []
    assert server.stopped.wait(20)


def _numbers_of_mutag():
    return 188 * (17.93 * 2 + 2 * 19.79 * 3 + 1)


def test_no_set_is_near_its_limit(monkeypatch):
    monkeypatch.delenv(_home.LIMIT_VARIABLE, raising=False)
    limits = {info.name: _home._most_bytes(info) for info in catalogue()}
    assert min(limits.values()) > 60e6 and max(limits.values()) < 5e9
    assert limits["COLLAB"] > 50 * 10_469_532  # its zip
    assert limits["REDDIT-BINARY"] > 20 * 4_572_308


@pytest.mark.parametrize("given", ["much", "0", "-1", "nan", "inf"])
def test_a_limit_is_a_number_of_megabytes(tmp_path, server, mirrors, monkeypatch, given):
    mirrors("good")
    monkeypatch.setenv(_home.LIMIT_VARIABLE, given)
    with pytest.raises(ValueError, match=f"positive number of megabytes, got '{given}'"):
        load_dataset("MUTAG", data_home=tmp_path)
    assert server.asked == []


def test_nobody_listens(tmp_path, monkeypatch):
    monkeypatch.setattr(_home, "MIRRORS", ("http://127.0.0.1:9/",))
    with pytest.raises(ConnectionError, match=r"failed: no connection to 127\.0\.0\.1$"):
        load_dataset("MUTAG", data_home=tmp_path)


def test_an_interrupted_download_leaves_nothing(tmp_path, mirrors, monkeypatch):
    mirrors("good")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_home, "_require_zip", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("MUTAG", data_home=tmp_path)
    assert names(tmp_path) == []


def test_a_second_download_must_be_the_same(tmp_path, mirrors):
    mirrors("good")
    load_dataset("MUTAG", data_home=tmp_path)
    (tmp_path / "MUTAG.zip").unlink()
    mirrors("changed")
    with pytest.raises(ConnectionError, match=r"in an earlier download.*delete .*\.sha256"):
        load_dataset("MUTAG", data_home=tmp_path)
    assert names(tmp_path) == ["MUTAG.zip.sha256"]
    mirrors("changed", "good")
    check_downloaded(load_dataset("MUTAG", data_home=tmp_path))
    for name in names(tmp_path):
        (tmp_path / name).unlink()
    mirrors("changed")
    check_downloaded(load_dataset("MUTAG", data_home=tmp_path))


def test_a_zip_that_changed_on_disk_is_rejected(tmp_path, mirrors):
    mirrors("good")
    load_dataset("MUTAG", data_home=tmp_path)
    write_zip(tmp_path / "MUTAG.zip", MUTAG, name="MUTAG")
    with zipfile.ZipFile(tmp_path / "MUTAG.zip", "a") as archive:
        archive.writestr("more.txt", "")
    with pytest.raises(ValueError, match=r"MUTAG\.zip differs from the download.*Delete it"):
        load_dataset("MUTAG", data_home=tmp_path)
    (tmp_path / "MUTAG.zip.sha256").unlink()
    check_downloaded(load_dataset("MUTAG", data_home=tmp_path))


def test_without_download(tmp_path, server, mirrors):
    mirrors("good")
    with pytest.raises(FileNotFoundError, match=r"no data set 'MUTAG' in .*put it there"):
        load_dataset("MUTAG", data_home=tmp_path, download=False)
    assert server.asked == [] and names(tmp_path) == []


@pytest.mark.parametrize(
    ("given", "meant"),
    [("mutag", "MUTAG"), ("IMDB_BINARY", "IMDB-BINARY"), ("Tox21_AHR_train", "Tox21_AhR_training")],
)
def test_unknown_names_are_not_asked_for(tmp_path, server, mirrors, given, meant):
    mirrors("good")
    with pytest.raises(FileNotFoundError, match=f"no such data set. Did you mean {meant}"):
        load_dataset(given, data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no such data set\.$"):
        load_dataset("???", data_home=tmp_path)
    assert server.asked == []


def test_a_zip_that_is_not_there_but_whose_name_is(tmp_path):
    write_folder(tmp_path / "TINY")
    for name in ("MUTAG", "TINY"):
        with pytest.raises(FileNotFoundError, match=rf"{name}\.zip. Did you mean the name {name}?"):
            load_dataset(f"{name}.zip", data_home=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no folder or zip OTHER\.zip$"):
        load_dataset("OTHER.zip", data_home=tmp_path)


def test_a_folder_is_no_name(tmp_path, monkeypatch):
    write_folder(tmp_path / "TINY")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"in the working directory, pass \./TINY\.$"):
        load_dataset("TINY", data_home=tmp_path / "home")
    check_tiny(load_dataset("./TINY"))


def test_sets_of_ones_own_need_no_catalogue(tmp_path, server, mirrors):
    mirrors("good")
    write_folder(tmp_path / "TINY")
    check_tiny(load_dataset("TINY", data_home=tmp_path))
    assert server.asked == [] and "TINY" not in {info.name for info in catalogue()}


def test_a_home_that_cannot_be_written(tmp_path, mirrors, monkeypatch):
    mirrors("good")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(ConnectionError, match=r"cannot write .*MUTAG\.zip: .* read-only"):
        load_dataset("MUTAG", data_home=tmp_path)
