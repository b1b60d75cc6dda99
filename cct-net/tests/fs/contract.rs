//! What `tokio::fs` does while nothing goes wrong. Each contract gets an empty directory, and notes
//! what it saw: errors by their kind, or by their number where they have no kind of their own.

use super::rt::*;
use std::io::{self, ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

/// What a contract notes that means nothing to this process.
pub(super) const SKIPPED: &str = "not for root";

fn told(error: &io::Error) -> String {
    match error.kind() {
        kind if format!("{kind:?}") != "Uncategorized" => format!("{kind:?}"),
        _ => format!("error {:?}", error.raw_os_error()),
    }
}

macro_rules! note {
    ($log:ident, $($what:expr),+) => {$(
        $log.push(match &$what {
            Ok(value) => format!("{} = {value:?}", stringify!($what)),
            Err(error) => format!("{} = {}", stringify!($what), told(error)),
        });
    )+};
}

#[path = "file_times.rs"]
mod file_times;
#[path = "odd_paths.rs"]
mod odd_paths;
#[path = "rights.rs"]
mod rights;
#[path = "symlinks.rs"]
mod symlinks;

pub(crate) use file_times::chosen_times;
#[allow(
    unused_imports,
    reason = "only for disks whose clock is the one that programs sleep by"
)]
pub(crate) use file_times::file_times;
pub(crate) use odd_paths::{
    dots_at_the_end, groups_of_directories, long_paths, nothing_to_read_or_write,
};
pub(crate) use rights::{denied, modes};
pub(crate) use symlinks::{odd_symbolic_links, symbolic_links};

fn unit<T>(result: io::Result<T>) -> io::Result<()> {
    result.map(drop)
}

fn name_of(path: &Path, root: &Path) -> PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

async fn names(path: &Path) -> io::Result<Vec<(String, bool)>> {
    let mut entries = fs::read_dir(path).await?;
    let mut names = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        assert_eq!(entry.path(), path.join(entry.file_name()));
        let is_dir = entry.file_type().await?.is_dir();
        assert_eq!(entry.metadata().await?.is_dir(), is_dir);
        names.push((entry.file_name().into_string().unwrap(), is_dir));
    }
    names.sort();
    Ok(names)
}

pub(crate) async fn whole_files(root: PathBuf, log: &mut Vec<String>) {
    let file = root.join("a");
    note!(log, fs::read(&file).await, fs::try_exists(&file).await);
    note!(log, fs::write(&file, "hello").await, fs::read(&file).await);
    note!(
        log,
        fs::write(&file, "bye").await,
        fs::read_to_string(&file).await
    );
    note!(
        log,
        fs::metadata(&file)
            .await
            .map(|m| (m.len(), m.is_file(), m.is_dir(), m.is_symlink()))
    );
    note!(log, fs::symlink_metadata(&file).await.map(|m| m.len()));
    note!(
        log,
        fs::metadata(&root).await.map(|m| (m.is_file(), m.is_dir()))
    );
    note!(
        log,
        fs::try_exists(&file).await,
        fs::try_exists(file.join("b")).await
    );
    note!(log, fs::write(&root, "x").await, fs::read(&root).await);
    note!(
        log,
        fs::write(root.join("no/where"), "x").await,
        fs::write(file.join("b"), "x").await
    );
    note!(
        log,
        fs::write(&file, [0xff, 0xfe]).await,
        fs::read_to_string(&file).await
    );
    note!(
        log,
        fs::copy(&file, root.join("b")).await,
        fs::read(root.join("b")).await
    );
    note!(
        log,
        fs::copy(root.join("none"), root.join("b")).await,
        fs::copy(&root, root.join("c")).await
    );
    note!(
        log,
        fs::copy(&file, root.join("none/b")).await,
        fs::copy(&file, &root).await
    );
    note!(
        log,
        fs::remove_file(&file).await,
        fs::remove_file(&file).await
    );
    note!(
        log,
        fs::remove_file(&root).await,
        fs::remove_file(root.join("b/c")).await
    );
    note!(
        log,
        fs::remove_file(root.join("b/")).await,
        fs::metadata(root.join("b/")).await.map(|_| ())
    );
    note!(
        log,
        fs::metadata(root.join("x".repeat(300))).await.map(|_| ()),
        fs::metadata("").await.map(|_| ())
    );
    note!(log, unit(fs::metadata("nul\0nul").await));
    note!(
        log,
        fs::canonicalize(root.join("./b"))
            .await
            .map(|path| name_of(&path, &root))
    );
    note!(log, unit(fs::canonicalize(root.join("none")).await));
    // A file that is copied onto itself is emptied first.
    let file = root.join("self");
    note!(log, fs::write(&file, "hello").await);
    note!(log, fs::hard_link(&file, root.join("again")).await);
    note!(log, fs::copy(&file, root.join("again")).await);
    note!(log, fs::read_to_string(&file).await);
}

pub(crate) async fn directories(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    note!(
        log,
        fs::create_dir(at("d")).await,
        fs::create_dir(at("d")).await
    );
    note!(
        log,
        fs::create_dir(at("e/f")).await,
        fs::create_dir("/").await
    );
    note!(
        log,
        fs::create_dir_all(at("e/f/g")).await,
        fs::create_dir_all(at("e/f/g")).await
    );
    let mut builder = fs::DirBuilder::new();
    note!(
        log,
        builder.create(at("built/deep")).await,
        builder.recursive(true).create(at("built/deep")).await,
        builder.create(at("built/deep")).await,
        builder.recursive(false).create(at("built/deep")).await
    );
    note!(
        log,
        fs::write(at("file"), "x").await,
        fs::create_dir(at("file")).await
    );
    note!(
        log,
        fs::create_dir_all(at("file")).await,
        fs::create_dir_all(at("file/x/y")).await
    );
    note!(
        log,
        fs::create_dir_all("").await,
        fs::create_dir_all(at("e/../h/./i/")).await
    );
    note!(
        log,
        names(&root).await,
        names(&at("e")).await,
        names(&at("none")).await
    );
    note!(log, names(&at("file")).await, names(&at("d")).await);
    note!(
        log,
        fs::remove_dir(at("e")).await,
        fs::remove_dir(at("file")).await
    );
    note!(
        log,
        fs::remove_dir(at("d")).await,
        fs::remove_dir(at("d")).await
    );
    note!(
        log,
        fs::write(at("e/f/x"), "x").await,
        fs::remove_dir_all(at("e")).await
    );
    note!(
        log,
        fs::remove_dir_all(at("e")).await,
        fs::remove_dir_all(at("file")).await
    );
    note!(
        log,
        fs::remove_dir(at("h/")).await,
        fs::create_dir(at("file/")).await
    );
    note!(log, names(&root).await);
    note!(
        log,
        fs::canonicalize(at("h/../h/i"))
            .await
            .map(|path| name_of(&path, &root))
    );
}

pub(crate) async fn renames_and_links(root: PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    for (name, text) in [("a", "a"), ("b", "b")] {
        fs::write(at(name), text).await.unwrap();
    }
    for name in ["d", "d/inner", "empty", "full", "full/x"] {
        fs::create_dir(at(name)).await.unwrap();
    }
    let mut open = fs::File::open(at("b")).await.unwrap();
    note!(
        log,
        fs::rename(at("a"), at("b")).await,
        fs::read_to_string(at("b")).await
    );
    let mut text = String::new();
    note!(log, open.read_to_string(&mut text).await);
    log.push(text);
    note!(
        log,
        fs::rename(at("a"), at("c")).await,
        fs::rename(at("b"), at("none/c")).await
    );
    note!(
        log,
        fs::rename(at("b"), at("b/c")).await,
        fs::rename(at("b"), at("b")).await
    );
    note!(
        log,
        fs::rename(at("b"), at("d")).await,
        fs::rename(at("d"), at("b")).await
    );
    note!(
        log,
        fs::rename(at("b"), at("d/inner/.."))
            .await
            .is_err()
            .then_some(())
            .ok_or(ErrorKind::Other.into()) as io::Result<()>
    );
    note!(
        log,
        fs::rename(at("d"), at("full")).await,
        fs::rename(at("d"), at("empty")).await
    );
    note!(
        log,
        fs::rename(at("full"), at("full/x/y")).await,
        fs::rename(at("full/x"), at("full")).await
    );
    note!(
        log,
        fs::rename(at("b"), at("b2/")).await,
        fs::rename(at("b/"), at("b2")).await
    );
    note!(
        log,
        fs::rename(at("full"), at("moved/")).await,
        fs::rename(at("b"), at("moved/b")).await
    );
    note!(log, fs::rename(at("moved/b"), at("moved")).await);
    note!(
        log,
        fs::hard_link(at("moved/b"), at("link")).await,
        fs::hard_link(at("link"), at("moved/b")).await
    );
    note!(
        log,
        fs::hard_link(at("none"), at("x")).await,
        fs::hard_link(at("moved"), at("x")).await
    );
    note!(log, fs::hard_link(at("link"), at("x/")).await);
    fs::write(at("link"), "through the link").await.unwrap();
    note!(
        log,
        fs::read_to_string(at("moved/b")).await,
        fs::rename(at("link"), at("moved/b")).await
    );
    note!(
        log,
        fs::remove_file(at("link")).await,
        fs::read_to_string(at("moved/b")).await
    );
    note!(
        log,
        names(&root).await,
        names(&at("moved")).await,
        names(&at("empty")).await
    );
}

async fn opened(options: &fs::OpenOptions, path: PathBuf) -> io::Result<()> {
    options.open(path).await.map(|_| ())
}

pub(crate) async fn options(root: PathBuf, log: &mut Vec<String>) {
    fs::write(root.join("old"), "0123456789").await.unwrap();
    fs::create_dir(root.join("dir")).await.unwrap();
    for bits in 0..64_u32 {
        let set = |bit: u32| bits >> bit & 1 == 1;
        let mut options = fs::OpenOptions::new();
        options.read(set(0)).write(set(1)).append(set(2));
        options.truncate(set(3)).create(set(4)).create_new(set(5));
        for name in ["old", "new", "dir", "none/x", "old/x", "new/"] {
            let result = opened(&options, root.join(name)).await;
            log.push(format!("{bits} {name}: {:?}", result.map_err(|e| told(&e))));
        }
        log.push(format!("{:?}", fs::read(root.join("old")).await.unwrap()));
        let made = fs::try_exists(root.join("new")).await.unwrap();
        log.push(format!("new: {made}"));
        if made {
            fs::remove_file(root.join("new")).await.unwrap();
        }
        fs::write(root.join("old"), "0123456789").await.unwrap();
    }
}

pub(crate) async fn reading_and_writing(root: PathBuf, log: &mut Vec<String>) {
    let path = root.join("f");
    let mut file = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .await
        .unwrap();
    note!(
        log,
        file.write_all(b"hello world").await,
        file.seek(SeekFrom::Start(6)).await
    );
    file.set_max_buf_size(4);
    let mut clone = file.try_clone().await.unwrap();
    note!(
        log,
        clone.read(&mut [0; 9]).await,
        clone.seek(SeekFrom::Start(0)).await,
        clone.write(b"hello ").await,
        clone.flush().await
    );
    log.push(format!("{} {}", file.max_buf_size(), clone.max_buf_size()));
    file.set_max_buf_size(1 << 20);
    file.seek(SeekFrom::Start(6)).await.unwrap();
    let mut five = [0; 5];
    note!(
        log,
        file.read_exact(&mut five).await,
        file.read(&mut five).await
    );
    log.push(format!("{five:?}"));
    note!(
        log,
        file.seek(SeekFrom::End(-5)).await,
        file.write(b"W").await,
        file.flush().await
    );
    note!(
        log,
        file.stream_position().await,
        fs::read_to_string(&path).await
    );
    note!(
        log,
        file.seek(SeekFrom::Current(-100)).await,
        file.stream_position().await
    );
    note!(
        log,
        file.seek(SeekFrom::Start(20)).await,
        file.write_all(b"far").await,
        file.sync_all().await
    );
    note!(
        log,
        file.metadata().await.map(|m| m.len()),
        fs::read(&path).await
    );
    note!(
        log,
        file.set_len(4).await,
        file.stream_position().await,
        file.write_all(b"!").await
    );
    note!(
        log,
        file.sync_data().await,
        file.metadata().await.map(|m| m.len())
    );
    note!(
        log,
        file.set_len(8).await,
        fs::read(&path)
            .await
            .map(|bytes| (bytes.len(), bytes[..8].to_vec()))
    );
    let mut rest = Vec::new();
    note!(log, file.rewind().await, file.read_to_end(&mut rest).await);
    note!(log, file.read_exact(&mut five).await);
    note!(log, file.write_all(b"").await, file.shutdown().await);

    let mut reader = fs::File::open(&path).await.unwrap();
    note!(
        log,
        reader.set_len(1).await,
        reader.write_all(b"x").await,
        reader.flush().await
    );
    note!(
        log,
        reader.write(b"y").await.map(|_| ()),
        reader.read(&mut five).await.map(|_| ()),
        reader.flush().await
    );
    let mut writer = fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .await
        .unwrap();
    note!(
        log,
        writer.read(&mut five).await,
        writer.stream_position().await
    );
    note!(
        log,
        writer.seek(SeekFrom::Start(0)).await,
        writer.write_all(b"end").await,
        writer.stream_position().await
    );
    note!(log, fs::metadata(&path).await.map(|m| m.len()));

    let mut twin = file.try_clone().await.unwrap();
    note!(
        log,
        file.seek(SeekFrom::Start(2)).await,
        twin.stream_position().await
    );
    note!(
        log,
        twin.read(&mut five[..2]).await,
        file.stream_position().await
    );
    fs::remove_file(&path).await.unwrap();
    note!(
        log,
        file.rewind().await,
        file.read(&mut five).await.map(|_| ()),
        twin.metadata().await.map(|m| m.len())
    );

    let mut dir = fs::File::open(&root).await.unwrap();
    note!(
        log,
        dir.sync_all().await,
        dir.sync_data().await,
        dir.read(&mut five).await
    );
    note!(
        log,
        dir.metadata().await.map(|m| m.is_dir()),
        dir.set_len(0).await,
        dir.write_all(b"x").await,
        dir.flush().await
    );
    note!(
        log,
        unit(fs::File::create_new(&path).await),
        unit(fs::File::create_new(&path).await)
    );
    note!(
        log,
        unit(fs::File::create(&root).await),
        unit(fs::File::create(&path).await)
    );
}

pub(crate) async fn permissions(root: PathBuf, log: &mut Vec<String>) {
    let path = root.join("f");
    fs::write(&path, "x").await.unwrap();
    let mut permissions = fs::metadata(&path).await.unwrap().permissions();
    log.push(format!("{}", permissions.readonly()));
    permissions.set_readonly(true);
    note!(log, fs::set_permissions(&path, permissions.clone()).await);
    note!(
        log,
        fs::metadata(&path)
            .await
            .map(|m| m.permissions().readonly())
    );
    note!(log, fs::copy(&path, root.join("g")).await);
    note!(
        log,
        fs::metadata(root.join("g"))
            .await
            .map(|m| m.permissions().readonly())
    );
    permissions.set_readonly(false);
    let file = fs::File::open(&path).await.unwrap();
    note!(log, file.set_permissions(permissions.clone()).await);
    note!(
        log,
        file.metadata().await.map(|m| m.permissions().readonly())
    );
    note!(
        log,
        fs::set_permissions(root.join("none"), permissions).await
    );
}

/// Links and directories where flags want none, or nothing else.
pub(crate) async fn flags(root: PathBuf, log: &mut Vec<String>) {
    let (file, dir, link) = (root.join("f"), root.join("d"), root.join("l"));
    fs::write(&file, "x").await.unwrap();
    fs::create_dir(&dir).await.unwrap();
    fs::symlink(&file, &link).await.unwrap();
    fs::symlink(&dir, root.join("ld")).await.unwrap();
    fs::symlink("none", root.join("dangling")).await.unwrap();
    let paths = [
        "f", "d", "l", "ld", "ld/", "ld/.", "dangling", "none", "f/", "l/x",
    ];
    for flags in [
        0,
        libc::O_NOFOLLOW,
        libc::O_DIRECTORY,
        libc::O_NOFOLLOW | libc::O_DIRECTORY,
    ] {
        for path in paths {
            let path = root.join(path);
            let mut options = fs::OpenOptions::new();
            options.custom_flags(flags | libc::O_WRONLY | libc::O_NOATIME | libc::O_NONBLOCK);
            note!(
                log,
                unit(options.read(true).open(&path).await),
                unit(options.read(false).write(true).open(&path).await)
            );
        }
    }
    let mut options = fs::OpenOptions::new();
    options
        .write(true)
        .create(true)
        .custom_flags(libc::O_NOFOLLOW);
    for path in paths {
        note!(log, unit(options.open(root.join(path)).await));
    }
    options.create_new(true);
    note!(log, unit(options.open(root.join("dangling")).await));
    note!(log, fs::try_exists(root.join("none")).await);
}
