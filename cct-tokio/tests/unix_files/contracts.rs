//! What is to be seen of a bound socket on the disk, and what becomes of it when its file does not stay.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

type Seen = Vec<String>;

fn note<T>(log: &mut Seen, what: &str, result: std::io::Result<T>) {
    let kind = result.map(drop).map_err(|error| error.kind());
    log.push(format!("{what}: {kind:?}"));
}

fn show(log: &mut Seen, what: &str, value: impl Debug) {
    log.push(format!("{what}: {value:?}"));
}

/// Whether what is said to a listener arrives, by another path perhaps.
async fn talk(log: &mut Seen, listener: &UnixListener, path: &Path) {
    let mut client = UnixStream::connect(path).await.unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    client.write_all(b"x").await.unwrap();
    show(log, "talk", server.read_u8().await.unwrap());
}

pub(crate) async fn a_file_is_there(root: &Path) -> Seen {
    let (mut log, path) = (Seen::new(), root.join("socket"));
    show(&mut log, "before", path.exists());
    let listener = UnixListener::bind(&path).unwrap();
    let kind = fs::metadata(&path).unwrap().file_type();
    show(&mut log, "a socket", kind.is_socket());
    let only_us = fs::Permissions::from_mode(0o600);
    note(&mut log, "mode", fs::set_permissions(&path, only_us));
    show(&mut log, "seen", rt::fs::try_exists(&path).await.unwrap());
    talk(&mut log, &listener, &path).await;
    drop(listener);
    show(&mut log, "closed", path.exists());
    note(&mut log, "connect", UnixStream::connect(&path).await);
    note(&mut log, "bind", UnixListener::bind(&path));
    note(&mut log, "remove", fs::remove_file(&path));
    note(&mut log, "connect", UnixStream::connect(&path).await);
    note(&mut log, "remove", fs::remove_file(&path));
    log
}

pub(crate) async fn bound_again(root: &Path) -> Seen {
    let (mut log, path) = (Seen::new(), root.join("socket"));
    for _ in 0..2 {
        note(&mut log, "remove", rt::fs::remove_file(&path).await);
        let listener = UnixListener::bind(&path).unwrap();
        talk(&mut log, &listener, &path).await;
        note(&mut log, "datagram", UnixDatagram::bind(&path));
    }
    fs::remove_file(&path).unwrap();
    let receiver = UnixDatagram::bind(&path).unwrap();
    let sender = UnixDatagram::unbound().unwrap();
    note(&mut log, "send", sender.send_to(b"x", &path).await);
    note(&mut log, "receive", receiver.recv(&mut [0]).await);
    drop(receiver);
    fs::remove_file(&path).unwrap();
    let socket = UnixSocket::new_stream().unwrap();
    note(&mut log, "socket", socket.bind(&path));
    show(&mut log, "there", path.exists());
    let listener = socket.listen(1).unwrap();
    talk(&mut log, &listener, &path).await;
    log
}

/// Bound under a name that nobody knows, so that whoever sees the other one may connect.
pub(crate) async fn moved_and_linked(root: &Path) -> Seen {
    let (mut log, path) = (Seen::new(), root.join("socket"));
    let (hidden, link) = (root.join(".socket"), root.join("link"));
    let listener = UnixListener::bind(&hidden).unwrap();
    fs::rename(&hidden, &path).unwrap();
    symlink("socket", &link).unwrap();
    talk(&mut log, &listener, &path).await;
    talk(&mut log, &listener, &link).await;
    note(&mut log, "taken", UnixListener::bind(&path));
    note(&mut log, "link", UnixListener::bind(&link));
    log
}

pub(crate) async fn no_place(root: &Path) -> Seen {
    let (mut log, file) = (Seen::new(), root.join("file"));
    note(&mut log, "no folder", UnixListener::bind(root.join("a/b")));
    fs::write(&file, "text").unwrap();
    note(&mut log, "a file", UnixListener::bind(&file));
    note(&mut log, "below it", UnixDatagram::bind(file.join("x")));
    show(&mut log, "still", fs::read(&file).unwrap());
    fs::remove_file(&file).unwrap();
    note(&mut log, "free", UnixListener::bind(&file));
    log
}

/// Bound by the standard library, as programs do that set its permissions before anybody may connect.
pub(crate) async fn of_the_standard_library(root: &Path) -> Seen {
    let (mut log, path) = (Seen::new(), root.join("socket"));
    for _ in 0..2 {
        let bound = std::os::unix::net::UnixListener::bind(&path).unwrap();
        bound.set_nonblocking(true).unwrap();
        let listener = UnixListener::from_std(bound).unwrap();
        let addr = listener.local_addr().unwrap();
        show(&mut log, "path", addr.as_pathname() == Some(&path));
        talk(&mut log, &listener, &path).await;
        note(&mut log, "taken", UnixListener::bind(&path));
        let listener = UnixListener::from_std(listener.into_std().unwrap()).unwrap();
        talk(&mut log, &listener, &path).await;
        drop(listener);
        show(&mut log, "closed", path.exists());
        note(&mut log, "connect", UnixStream::connect(&path).await);
        fs::remove_file(&path).unwrap();
        note(&mut log, "connect", UnixStream::connect(&path).await);
    }
    let listener = UnixListener::bind(&path).unwrap();
    talk(&mut log, &listener, &path).await;
    log
}
