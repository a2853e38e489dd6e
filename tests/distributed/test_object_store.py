"""Source and output on an object store: moto's server of S3 on this machine, where installed."""

import os

import pytest
from distributed_runs import digest_of_rows

import graphmover as gm
from graphmover.distributed.lease import only_driver_of
from graphmover.distributed.storage import Place

server = pytest.importorskip("moto.server")
fs = pytest.importorskip("pyarrow.fs")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(source):
    """A file system with the source in it, and what follows the path in a URI."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "any")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        one = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        one.start()
        port = one.get_host_and_port()[1]
        options = f"?region=us-east-1&scheme=http&endpoint_override=127.0.0.1%3A{port}"
        system, _ = fs.FileSystem.from_uri(f"s3://bucket{options}&allow_bucket_creation=true")
        system.create_dir("bucket")
        fs.copy_files(str(source), "bucket/graphs", destination_filesystem=system)
        yield system, options
        one.stop()


@pytest.mark.parametrize("pattern", ["graphs", "graphs/*.parquet"])
@pytest.mark.parametrize("workers", [{"engine": "serial"}, {"workers": 1}])
def test_a_run_resumes_on_an_object_store(
    model, source, expected, store, tmp_path, pattern, workers
):
    system, options = store
    name = f"bucket/{tmp_path.name}"
    graphs, folder = f"s3://bucket/{pattern}{options}", f"s3://{name}{options}"
    written = gm.distributed.transform_to(model, graphs, folder, unit_rows=4, **workers)
    assert (written.n_rows, written.n_computed) == (240, 60)
    system.delete_file(f"{name}/part-000003.parquet")
    with system.open_output_stream(f"{name}/part-000004.parquet") as file:
        file.write(b"damaged")
    with (
        only_driver_of(Place(folder)),
        pytest.raises(ValueError, match=r"another process is writing s3://bucket"),
    ):
        gm.distributed.transform_to(model, graphs, folder, unit_rows=4, **workers)
    written = gm.distributed.transform_to(model, graphs, folder, unit_rows=4, **workers)
    assert written.n_computed == 2
    (tmp_path / "z").mkdir()
    fs.copy_files(name, str(tmp_path / "z"), source_filesystem=system)
    assert digest_of_rows(tmp_path / "z") == digest_of_rows(expected)
    others = {one for one in os.listdir(tmp_path / "z") if not one.startswith("part-")}
    assert others == {"_SUCCESS", "_manifest.json", "_model.npz"}
