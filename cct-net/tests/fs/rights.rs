//! Modes, and what a process that is not root is denied.

use super::super::rt::*;
use super::{name_of, told, unit};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

async fn mode_of(path: impl AsRef<Path>) -> io::Result<String> {
    let metadata = fs::symlink_metadata(path).await?;
    Ok(format!("{:o}", metadata.permissions().mode()))
}

/// Changes the permissions of what is there, from a value that was read.
async fn chmod(path: impl AsRef<Path>, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(&path).await?.permissions();
    permissions.set_mode(mode);
    fs::set_permissions(path, permissions).await
}

pub(crate) async fn modes(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    let file = options.open(at("private")).await.unwrap();
    note!(log, mode_of(at("private")).await);
    // The mode is that of new files only.
    options.mode(0o400);
    note!(log, unit(options.open(at("private")).await));
    note!(log, mode_of(at("private")).await);
    // Who makes a file may write to it, whatever its mode.
    let mut sealed = options.open(at("sealed")).await.unwrap();
    note!(log, sealed.write_all(b"x").await, sealed.flush().await);
    note!(
        log,
        mode_of(at("sealed")).await,
        fs::read(at("sealed")).await
    );
    note!(
        log,
        chmod(at("private"), 0o100_640).await,
        mode_of(at("private")).await
    );
    let mut permissions = file.metadata().await.unwrap().permissions();
    note!(log, io::Result::Ok(permissions.readonly()));
    permissions.set_readonly(true);
    note!(log, io::Result::Ok(format!("{:o}", permissions.mode())));
    permissions.set_readonly(false);
    note!(log, io::Result::Ok(format!("{:o}", permissions.mode())));
    note!(
        log,
        file.set_permissions(permissions).await,
        mode_of(at("private")).await
    );
    note!(log, chmod(at("private"), 0o710).await);
    note!(
        log,
        unit(fs::copy(at("private"), at("copy")).await),
        mode_of(at("copy")).await
    );
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    note!(log, builder.create(at("d")).await, mode_of(at("d")).await);
    note!(log, builder.create(at("d")).await);
    builder.recursive(true);
    note!(log, builder.create(at("e/f")).await);
    note!(log, mode_of(at("e")).await, mode_of(at("e/f")).await);
    note!(log, chmod(at("d"), 0o500).await, mode_of(at("d")).await);
    note!(log, fs::symlink("private", at("link")).await);
    note!(log, mode_of(at("link")).await);
    // Through the link.
    note!(
        log,
        chmod(at("link"), 0o604).await,
        mode_of(at("private")).await
    );
    note!(log, chmod(at("none"), 0o604).await);
    note!(log, chmod(at("d"), 0o700).await);
}

/// Whether permissions mean anything to this process: not to root.
async fn is_bound(root: &Path) -> bool {
    let file = root.join("bound");
    fs::write(&file, "").await.unwrap();
    chmod(&file, 0).await.unwrap();
    let bound = fs::File::open(&file).await.is_err();
    fs::remove_file(&file).await.unwrap();
    bound
}

pub(crate) async fn denied(root: PathBuf, log: &mut Vec<String>) {
    if !is_bound(&root).await {
        log.push(super::SKIPPED.to_owned());
        return;
    }
    let at = |name: &str| root.join(name);
    fs::write(at("f"), "x").await.unwrap();
    for mode in [0o000, 0o200, 0o400, 0o077] {
        note!(log, chmod(at("f"), mode).await);
        note!(log, fs::read(at("f")).await, fs::write(at("f"), "y").await);
        note!(
            log,
            unit(fs::OpenOptions::new().append(true).open(at("f")).await)
        );
        note!(log, unit(fs::File::create(at("f")).await));
        note!(log, unit(fs::File::create_new(at("f")).await));
        note!(
            log,
            unit(fs::metadata(at("f")).await),
            fs::copy(at("f"), at("g")).await
        );
        note!(
            log,
            fs::rename(at("f"), at("h")).await,
            fs::rename(at("h"), at("f")).await
        );
    }
    fs::create_dir_all(at("d/sub/deep")).await.unwrap();
    fs::create_dir(at("d/empty")).await.unwrap();
    fs::create_dir(at("other")).await.unwrap();
    fs::write(at("d/f"), "x").await.unwrap();
    fs::symlink("f", at("d/link")).await.unwrap();
    for mode in [0o000, 0o100, 0o200, 0o300, 0o400, 0o500, 0o600] {
        note!(log, chmod(at("d"), mode).await);
        note!(log, unit(fs::read_dir(at("d")).await));
        note!(
            log,
            unit(fs::metadata(at("d")).await),
            unit(fs::metadata(at("d/..")).await)
        );
        note!(
            log,
            unit(fs::metadata(at("d/f")).await),
            unit(fs::metadata(at("d/none")).await)
        );
        note!(
            log,
            fs::try_exists(at("d/f")).await,
            fs::try_exists(at("d/none")).await
        );
        note!(
            log,
            fs::try_exists(at("d/sub/deep")).await,
            fs::read_link(at("d/link")).await
        );
        note!(
            log,
            fs::canonicalize(at("d/link"))
                .await
                .map(|path| name_of(&path, &root))
        );
        note!(
            log,
            fs::read(at("d/f")).await,
            fs::write(at("d/f"), "x").await
        );
        note!(
            log,
            unit(fs::File::create_new(at("d/f")).await),
            fs::create_dir(at("d/sub")).await
        );
        note!(
            log,
            fs::create_dir(at("d/f/g")).await,
            fs::remove_file(at("d/none")).await
        );
        note!(
            log,
            fs::remove_file(at("d/sub")).await,
            fs::remove_file(at("d/sub/")).await
        );
        note!(
            log,
            fs::remove_dir(at("d/f")).await,
            fs::remove_dir(at("d/sub")).await
        );
        note!(log, fs::rename(at("d/f"), at("d/sub")).await);
        note!(log, fs::rename(at("d/sub"), at("d/f")).await);
        note!(
            log,
            fs::rename(at("d/none"), at("x")).await,
            fs::rename(at("d/f"), at("d/f")).await
        );
        note!(log, fs::hard_link(at("d/f"), at("d/f")).await);
        note!(log, fs::create_dir_all(at("d/sub/deep")).await);
        if mode & 0o300 != 0o300 {
            // These would change what is there.
            note!(
                log,
                fs::write(at("d/new"), "x").await,
                fs::create_dir(at("d/new")).await
            );
            note!(log, fs::symlink("f", at("d/new")).await);
            note!(log, fs::hard_link(at("other"), at("d/new")).await);
            note!(log, fs::hard_link(at("f"), at("d/new")).await);
            note!(
                log,
                fs::rename(at("d/f"), at("x")).await,
                fs::rename(at("f"), at("d/x")).await
            );
            note!(log, fs::rename(at("f"), at("d/f")).await);
            note!(log, fs::rename(at("d/empty"), at("x")).await);
            note!(
                log,
                fs::remove_file(at("d/f")).await,
                fs::remove_dir(at("d/empty")).await
            );
            note!(log, fs::create_dir_all(at("d/new/newer")).await);
        }
    }
    note!(log, chmod(at("d"), 0o700).await);
    // Who moves a directory elsewhere changes what is above it.
    note!(log, chmod(at("d/sub"), 0o500).await);
    note!(log, fs::rename(at("d/sub"), at("other/sub")).await);
    note!(log, fs::rename(at("d/sub"), at("d/new")).await);
    note!(log, fs::remove_dir_all(at("d/new")).await);
    note!(
        log,
        chmod(at("d/new"), 0o300).await,
        fs::remove_dir_all(at("d/new")).await
    );
    note!(
        log,
        fs::remove_dir(at("d/new/deep")).await,
        fs::remove_dir_all(at("d/new")).await
    );
    note!(log, fs::remove_dir(at("d/new")).await);
    // A directory that may not be read is no source, and what is written is run by nobody else.
    note!(log, chmod(at("other"), 0o300).await);
    note!(log, fs::copy(at("other"), at("g")).await);
    for mode in [0o6711, 0o2644] {
        for (old, new) in [("", ""), ("x", ""), ("x", "yz")] {
            fs::write(at("run"), old).await.unwrap();
            note!(log, chmod(at("run"), mode).await);
            let mut file = fs::File::options()
                .write(true)
                .open(at("run"))
                .await
                .unwrap();
            note!(
                log,
                file.write_all(new.as_bytes()).await,
                file.flush().await
            );
            note!(log, mode_of(at("run")).await, chmod(at("run"), mode).await);
            note!(
                log,
                fs::copy(at("run"), at("ran")).await,
                mode_of(at("ran")).await
            );
            note!(
                log,
                fs::write(at("run"), "").await,
                mode_of(at("run")).await
            );
            note!(log, chmod(at("run"), mode).await, file.set_len(1).await);
            note!(log, mode_of(at("run")).await);
        }
    }
    // A path without names to look up.
    note!(log, chmod(at("d"), 0o600).await);
    note!(
        log,
        unit(fs::metadata(at("d/.")).await),
        unit(fs::canonicalize(at("d/.")).await)
    );
    note!(
        log,
        unit(fs::canonicalize(at("d/..")).await),
        unit(fs::canonicalize(at("d/f")).await)
    );
    // A file that is open stays so.
    fs::write(at("open"), "xy").await.unwrap();
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .read(true)
        .write(true)
        .open(at("open"))
        .await
        .unwrap();
    note!(
        log,
        chmod(at("open"), 0).await,
        file.write_all(b"z").await,
        file.flush().await
    );
    note!(log, file.read(&mut [0; 4]).await, file.set_len(0).await);
    note!(log, unit(file.metadata().await));
}
