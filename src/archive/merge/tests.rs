//! Two parts that bring one path: whose it becomes, in whatever order they come.

use super::*;
use crate::archive::copying::Copying;
use crate::archive::folder::Folder;
use std::os::unix::fs::symlink;

/// What a part has at a path.
#[derive(Clone, Copy, Debug)]
enum Has {
    File(&'static str),
    Link(&'static str),
}

/// Brings the parts into one tree, in this order.
fn merged(parts: &[(usize, &[(&str, Has)])]) -> (TempDir, Vec<Lost>) {
    let dir = TempDir::new().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    let merge = Merge::new(&tree);
    for (part, files) in parts {
        let root = dir.path().join(part.to_string());
        for (path, has) in *files {
            let full = root.join(path);
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            match has {
                Has::File(text) => fs::write(full, text).unwrap(),
                Has::Link(to) => symlink(to, full).unwrap(),
            }
        }
        let folder = Folder { root: &root, place: &|name| Some(name.to_owned()) };
        folder.copy(*part, &merge, &mut Copying { buffer: &mut [0; 100], seen: &|_| true }).unwrap();
    }
    let lost = merge.finish().unwrap();
    assert!(fs::read_dir(&tree).unwrap().all(|e| !e.unwrap().file_name().to_string_lossy().starts_with('.')));
    (dir, lost)
}

fn lost(path: &str, part: usize, to: usize) -> Lost {
    Lost { path: path.to_owned(), part, to }
}

#[test]
fn the_part_that_comes_first_in_the_plan_has_the_place() {
    let one: &[(&str, Has)] =
        &[("a/LICENSE", Has::File("one")), ("same", Has::File("x")), ("l", Has::Link("same"))];
    let two: &[(&str, Has)] =
        &[("a/LICENSE", Has::File("two")), ("same", Has::File("x")), ("l", Has::Link("same"))];
    for order in [[(0, one), (1, two)], [(1, two), (0, one)]] {
        let (dir, gone) = merged(&order);
        assert_eq!(gone, [lost("a/LICENSE", 1, 0)]);
        assert_eq!(fs::read_to_string(dir.path().join("tree/a/LICENSE")).unwrap(), "one");
        assert_eq!(fs::read_link(dir.path().join("tree/l")).unwrap(), Path::new("same"));
    }
}

#[test]
fn of_three_the_first_wins_whoever_comes_first() {
    let parts: [(usize, &[(&str, Has)]); 3] =
        [(0, &[("a", Has::File("0"))]), (1, &[("a", Has::File("1"))]), (2, &[("a", Has::File("0"))])];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let (dir, gone) = merged(&order.map(|at| parts[at]));
        assert_eq!(gone, [lost("a", 1, 0)], "{order:?}");
        assert_eq!(fs::read_to_string(dir.path().join("tree/a")).unwrap(), "0", "{order:?}");
    }
}

#[test]
fn links_and_files_that_meet_are_settled_and_never_followed() {
    let file: &[(&str, Has)] = &[("a", Has::File("file")), ("other", Has::File("o"))];
    let link: &[(&str, Has)] = &[("a", Has::Link("other"))];
    let elsewhere: &[(&str, Has)] = &[("a", Has::Link("third")), ("third", Has::File("t"))];
    for (first, second, text) in
        [(file, link, "file"), (link, file, "o"), (link, elsewhere, ""), (elsewhere, link, "t")]
    {
        for order in [[(0, first), (1, second)], [(1, second), (0, first)]] {
            let (dir, gone) = merged(&order);
            assert_eq!(gone, [lost("a", 1, 0)]);
            assert_eq!(fs::read_to_string(dir.path().join("tree/a")).unwrap_or_default(), text);
            let other = dir.path().join("tree/other");
            assert!(!other.exists() || fs::read_to_string(other).unwrap() == "o");
        }
    }
}

#[test]
fn files_that_differ_only_at_their_end_are_told_apart() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, last: u8, length: usize| {
        let mut bytes = vec![1; length];
        *bytes.last_mut().unwrap() = last;
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let one = write("one", 1, 200_000);
    assert!(same_bytes(&one, &write("two", 1, 200_000)).unwrap());
    assert!(!same_bytes(&one, &write("two", 2, 200_000)).unwrap());
    assert!(!same_bytes(&one, &write("two", 1, 200_001)).unwrap());
}
