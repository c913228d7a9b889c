"""Proto files: what they import, and when they are read again."""

from pathlib import Path
from shutil import copytree

from swf_temporal.functions.rpc.protos import Protos, full_name_of
from tests.failing import failing

PROTOS = Path(__file__).parents[1] / "protos"


async def test_imports_from_the_definitions_folder(tmp_path: Path) -> None:
    folder = Path(copytree(PROTOS, tmp_path / "protos"))
    (folder / "services").mkdir()
    moved = (folder / "users.proto").rename(folder / "services" / "users.proto")
    services = await Protos().load("services/users.proto", str(moved), str(folder))
    assert services.method("UserService", "AddUser").input_type.full_name == "shop.people.Person"


async def test_annotations_of_the_specifications_example(tmp_path: Path) -> None:
    """The options by which a method is offered over HTTP too, as in the specification, need no files of one's own."""
    text = """
        syntax = "proto3";
        import "google/api/annotations.proto";
        import "google/protobuf/empty.proto";
        message User { string name = 1; }
        service UserService {
          rpc AddUser(User) returns (google.protobuf.Empty) {
            option (google.api.http) = { post: "/api/v1/users" body: "*" };
          }
        }
    """
    (tmp_path / "myuserservice.proto").write_text(text)
    services = await Protos().load("myuserservice.proto", str(tmp_path / "myuserservice.proto"), None)
    assert services.method("UserService", "AddUser").input_type.full_name == "User"


async def test_a_changed_import_is_read_again(tmp_path: Path) -> None:
    folder = Path(copytree(PROTOS, tmp_path / "protos"))
    protos, location = Protos(), str(folder / "users.proto")
    first = await protos.load("users.proto", location, None)
    again = await protos.load("users.proto", location, None)
    people = folder / "shared" / "people.proto"
    people.write_text(people.read_text().replace("full_name", "called"))
    changed = await protos.load("users.proto", location, None)
    assert again is first
    assert "called" in changed.method("UserService", "AddUser").input_type.fields_by_name


def test_services_of_one_name_in_two_packages() -> None:
    with failing("UnknownOperation", r"more than one service 'Users': a\.Users, b\.Users"):
        full_name_of("Users", ["a.Users", "b.Users"], "the file")
    assert full_name_of("b.Users", ["a.Users", "b.Users"], "the file") == "b.Users"
