//! Paths that end in no name, long ones, and which of two errors is given.

use super::super::rt::*;
use super::{name_of, told, unit};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

pub(crate) async fn dots_at_the_end(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    for path in ["new/.", "new/./", "new/..", "new//"] {
        note!(log, fs::create_dir(at(path)).await);
        note!(log, fs::symlink("x", at(path)).await);
        note!(log, unit(fs::File::create(at(path)).await));
        note!(log, unit(fs::metadata(at(path)).await));
        note!(log, fs::remove_dir_all(at(path)).await);
    }
    fs::create_dir(at("d")).await.unwrap();
    fs::write(at("f"), "x").await.unwrap();
    for path in ["d/.", "d/./", "d/..", "f/.", "f/..", "f/"] {
        note!(log, fs::create_dir(at(path)).await);
        note!(log, fs::remove_dir(at(path)).await);
        note!(log, fs::remove_file(at(path)).await);
        note!(log, fs::rename(at(path), at("e")).await);
        note!(log, fs::rename(at("d"), at(path)).await);
        note!(log, fs::hard_link(at("f"), at(path)).await);
        note!(log, unit(fs::File::create(at(path)).await));
        note!(log, unit(fs::File::create_new(at(path)).await));
    }
    note!(log, fs::create_dir_all(at("x/../y/.")).await);
    note!(log, unit(fs::metadata(at("x")).await));
    note!(log, unit(fs::metadata(at("y")).await));
    // What is in a directory goes before it turns out that the path cannot be removed.
    fs::create_dir(at("d/in")).await.unwrap();
    note!(log, fs::remove_dir_all(at("d/.")).await);
    note!(log, unit(fs::metadata(at("d/in")).await));
    // This way in goes with the rest.
    fs::symlink(".", at("d/self")).await.unwrap();
    note!(log, fs::remove_dir_all(at("d/self/")).await);
    note!(log, unit(fs::symlink_metadata(at("d/self")).await));
    note!(log, unit(fs::metadata(at("d")).await));
}

pub(crate) async fn long_paths(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    fs::write(at("a"), "x").await.unwrap();
    let long = at(&format!("{}a", "./".repeat(2500)));
    note!(log, fs::read(&long).await, fs::write(&long, "x").await);
    note!(
        log,
        fs::create_dir(&long).await,
        fs::remove_file(&long).await
    );
    note!(log, fs::symlink(&long, at("l")).await);
    // Here the C library goes step by step.
    note!(
        log,
        fs::canonicalize(&long)
            .await
            .map(|path| name_of(&path, &root))
    );
    let name = "n".repeat(256);
    note!(log, unit(fs::metadata(at(&name)).await));
    note!(log, fs::rename(at("none"), at(&name)).await);
    note!(log, fs::rename(at("a"), at(&name)).await);
    note!(log, fs::rename(at("none/a"), "").await);
    note!(log, fs::rename("", at("none/a")).await);
    note!(log, fs::rename(at("none/a"), "zero\0").await);
    note!(log, fs::hard_link(at("none"), "").await);
    note!(log, fs::symlink("", at("none/a")).await);
}

pub(crate) async fn groups_of_directories(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    fs::create_dir(at("d")).await.unwrap();
    let mut permissions = fs::metadata(at("d")).await.unwrap().permissions();
    permissions.set_mode(0o2775);
    note!(log, fs::set_permissions(at("d"), permissions).await);
    note!(log, fs::create_dir(at("d/in")).await);
    note!(log, fs::create_dir_all(at("d/in/a/b")).await);
    fs::write(at("d/f"), "x").await.unwrap();
    for path in ["d", "d/in", "d/in/a/b", "d/f"] {
        let found = fs::metadata(at(path)).await;
        note!(log, found.map(|found| found.permissions().mode()));
    }
}

pub(crate) async fn nothing_to_read_or_write(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    let mut file = fs::File::create(at("f")).await.unwrap();
    note!(log, file.read(&mut []).await, file.read(&mut [0]).await);
    note!(
        log,
        file.set_len(u64::MAX).await,
        file.set_len(1 << 63).await
    );
    note!(log, file.write_all(b"ab\xff").await, file.flush().await);
    let mut file = fs::File::open(at("f")).await.unwrap();
    note!(log, file.write(b"").await, file.flush().await);
    note!(log, file.write(b"x").await, file.flush().await);
    note!(log, texts(&mut file).await);
}

/// What errors of their own say.
async fn texts(file: &mut fs::File) -> std::io::Result<[String; 3]> {
    let short = file.read_exact(&mut [0; 9]).await.unwrap_err();
    file.rewind().await?;
    let mut text = "so far".to_owned();
    let wrong = file.read_to_string(&mut text).await.unwrap_err();
    Ok([short.to_string(), wrong.to_string(), text])
}
