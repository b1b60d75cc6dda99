//! What is to be seen of a bound socket on the disk, and what becomes of it when its file does not stay.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

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
    show(
        &mut log,
        "a socket",
        (kind.is_socket(), kind.is_file(), kind.is_dir()),
    );
    let only_us = fs::Permissions::from_mode(0o600);
    let mode = |path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    show(&mut log, "usual mode", mode(&path) & 0o700);
    note(&mut log, "mode", fs::set_permissions(&path, only_us));
    show(&mut log, "mode", mode(&path));
    note(
        &mut log,
        "open",
        fs::File::open(&path).map_err(|_| std::io::ErrorKind::Other.into()),
    );
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
pub(crate) async fn moved(root: &Path) -> Seen {
    let (mut log, path, hidden) = (Seen::new(), root.join("socket"), root.join(".socket"));
    let listener = UnixListener::bind(&hidden).unwrap();
    fs::rename(&hidden, &path).unwrap();
    talk(&mut log, &listener, &path).await;
    show(&mut log, "before", hidden.exists());
    note(&mut log, "taken", UnixListener::bind(&path));
    note(&mut log, "free", UnixListener::bind(&hidden));
    note(&mut log, "over it", fs::rename(&path, &hidden));
    talk(&mut log, &listener, &root.join("./.socket")).await;
    show(&mut log, "gone", path.exists());
    log
}

/// Who waits for a server looks for its socket.
pub(crate) async fn waited_for(root: &Path) -> Seen {
    let (mut log, path) = (Seen::new(), root.join("socket"));
    let theirs = path.clone();
    let server = rt::spawn(async move {
        rt::task::yield_now().await;
        let listener = UnixListener::bind(&theirs).unwrap();
        listener.accept().await.unwrap();
    });
    while !path.exists() {
        rt::time::sleep(Duration::from_millis(1)).await;
    }
    note(&mut log, "connect", UnixStream::connect(&path).await);
    server.await.unwrap();
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
