use super::*;

fn target(result: io::Result<PathBuf>, root: &Path) -> io::Result<PathBuf> {
    result.map(|path| name_of(&path, root))
}

pub(crate) async fn symbolic_links(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    fs::create_dir_all(at("d/e")).await.unwrap();
    fs::write(at("d/file"), "text").await.unwrap();
    note!(log, fs::symlink("d/file", at("short")).await);
    note!(log, fs::symlink(at("d"), at("absolute")).await);
    note!(log, fs::symlink("../file", at("d/e/up")).await);
    note!(log, fs::symlink("x", at("short")).await);
    note!(log, fs::symlink("", at("empty")).await);
    note!(log, fs::symlink("x", at("none/x")).await);
    note!(log, fs::symlink("x", at("slash/")).await);
    for name in ["short", "absolute/file", "absolute/e/up", "d/e/../e/up"] {
        note!(log, fs::read_to_string(at(name)).await);
        note!(log, target(fs::canonicalize(at(name)).await, &root));
        note!(log, target(fs::read_link(at(name)).await, &root));
    }
    note!(log, target(fs::read_link(at("absolute")).await, &root));
    note!(log, fs::read_link(at("none")).await);
    for name in ["short", "absolute", "absolute/", "d"] {
        let (followed, itself) = (
            fs::metadata(at(name)).await.unwrap(),
            fs::symlink_metadata(at(name)).await.unwrap(),
        );
        note!(
            log,
            io::Result::Ok((followed.is_dir(), followed.is_file(), followed.is_symlink()))
        );
        note!(
            log,
            io::Result::Ok((itself.is_dir(), itself.is_file(), itself.is_symlink()))
        );
    }
    let itself = fs::symlink_metadata(at("short")).await.unwrap();
    note!(
        log,
        io::Result::Ok((itself.len(), itself.permissions().readonly()))
    );
    note!(log, names(&root).await);
    note!(log, names(&at("absolute")).await);
    // What is written through a link is in the file.
    note!(
        log,
        fs::write(at("short"), "new").await,
        fs::read_to_string(at("d/file")).await
    );
    note!(log, fs::copy(at("short"), at("copy")).await);
    note!(
        log,
        io::Result::Ok(fs::symlink_metadata(at("copy")).await.unwrap().is_file())
    );
    // Links themselves are renamed, named again and removed.
    note!(log, fs::rename(at("short"), at("renamed")).await);
    note!(log, fs::hard_link(at("renamed"), at("second")).await);
    note!(log, fs::read_link(at("second")).await);
    note!(
        log,
        fs::remove_file(at("renamed")).await,
        fs::try_exists(at("d/file")).await
    );
    note!(log, fs::remove_dir(at("absolute")).await);
    note!(
        log,
        fs::remove_dir_all(at("absolute")).await,
        fs::try_exists(at("d")).await
    );
    note!(log, names(&root).await);
}

pub(crate) async fn odd_symbolic_links(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    for (target, name) in [
        ("nowhere", "dangling"),
        ("nowhere2", "dangling2"),
        ("self", "self"),
        ("two", "one"),
        ("one", "two"),
        ("file/", "file as directory"),
        ("file", "file link"),
        ("d", "d link"),
        ("d/new", "into d"),
        ("d/", "d slash"),
    ] {
        fs::symlink(target, at(name)).await.unwrap();
    }
    fs::create_dir(at("d")).await.unwrap();
    fs::write(at("file"), "text").await.unwrap();
    for name in [
        "dangling",
        "self",
        "one",
        "file as directory",
        "d link",
        "d slash",
    ] {
        note!(log, unit(fs::metadata(at(name)).await));
        note!(log, unit(fs::symlink_metadata(at(name)).await));
        note!(log, fs::try_exists(at(name)).await);
        note!(log, fs::create_dir(at(name)).await);
        note!(log, fs::create_dir_all(at(name)).await);
        note!(log, unit(fs::File::open(at(name)).await));
        note!(log, unit(fs::canonicalize(at(name)).await));
        note!(log, unit(fs::read_dir(at(name)).await));
    }
    note!(log, unit(fs::metadata(at("self/x")).await));
    note!(log, unit(fs::metadata(at("file link/")).await));
    note!(log, unit(fs::read_link(at("file link/")).await));
    note!(log, fs::remove_file(at("d link/")).await);
    // Opening makes what a link leads to, unless it must be new.
    let new = fs::OpenOptions::new().write(true).create_new(true).clone();
    note!(log, unit(new.open(at("into d")).await));
    note!(
        log,
        fs::write(at("into d"), "made").await,
        fs::read_to_string(at("d/new")).await
    );
    note!(
        log,
        fs::write(at("dangling"), "made").await,
        fs::read_to_string(at("nowhere")).await
    );
    note!(log, fs::write(at("self"), "x").await);
    note!(log, fs::write(at("d slash"), "x").await);
    // Forty links may follow each other.
    fs::symlink("file", at("l0")).await.unwrap();
    for n in 1..42 {
        fs::symlink(format!("l{}", n - 1), at(&format!("l{n}")))
            .await
            .unwrap();
    }
    note!(log, fs::read_to_string(at("l39")).await);
    note!(log, fs::read_to_string(at("l40")).await);
    note!(log, unit(fs::write(at("l40"), "x").await));
    for name in ["self/x", "dangling2/x", "file link/x"] {
        note!(log, fs::create_dir_all(at(name)).await);
    }
    // What is deep below a link is found, and `..` goes up from where it leads.
    note!(log, fs::create_dir_all(at("d link/a/b")).await);
    note!(log, fs::symlink("d/a/b", at("deep")).await);
    note!(log, fs::read_to_string(at("deep/../../new")).await);
    note!(log, fs::rename(at("d"), at("deep/inner")).await);
    note!(
        log,
        fs::remove_dir_all(at("d")).await,
        fs::read_to_string(at("file")).await
    );
}
