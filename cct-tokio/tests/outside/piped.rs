//! Pipes at whose other end another process is, or may be.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::unix::pipe::{OpenOptions, Receiver, Sender, pipe};
use rt::process::Command;
use rt::time::{Duration, timeout};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;

/// Ends of pipes are what a process reads and writes.
pub(crate) async fn are_given_to_a_process() {
    let (mut to, its_input) = pipe().unwrap();
    let (its_output, mut from) = pipe().unwrap();
    let mut cat = Command::new("cat")
        .stdin(its_input.into_blocking_fd().unwrap())
        .stdout(its_output.into_blocking_fd().unwrap())
        .spawn()
        .unwrap();
    for line in [&b"one\n"[..], b"another\n"] {
        to.write_all(line).await.unwrap();
        let mut back = vec![0; line.len()];
        from.read_exact(&mut back).await.unwrap();
        assert_eq!(back, line);
    }
    // More than there is room for.
    let writing = rt::spawn(async move {
        for _ in 0..100 {
            to.write_all(&[b'x'; 4096]).await.unwrap();
        }
    });
    let mut rest = Vec::new();
    from.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest.len(), 100 * 4096);
    writing.await.unwrap();
    assert!(cat.wait().await.unwrap().success());
}

/// A path at which a pipe is, made by a process.
fn named(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("cct-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    path
}

pub(crate) async fn have_names() {
    let path = named("piped");
    let nobody = OpenOptions::new().open_sender(&path).unwrap_err();
    assert_eq!(nobody.raw_os_error(), Some(nix::libc::ENXIO));
    let mut receiver = OpenOptions::new().open_receiver(&path).unwrap();
    let mut sender = OpenOptions::new().open_sender(&path).unwrap();
    let moment = Duration::from_millis(5);
    assert!(timeout(moment, receiver.readable()).await.is_err());
    let empty = receiver.try_read(&mut [0]).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::WouldBlock);
    sender.write_all(b"ab").await.unwrap();
    assert!(
        receiver
            .ready(Interest::READABLE)
            .await
            .unwrap()
            .is_readable()
    );
    let mut bytes = Vec::with_capacity(1);
    assert_eq!(receiver.try_read_buf(&mut bytes).unwrap(), 1);
    assert_eq!(
        (receiver.read_u8().await.unwrap(), &bytes[..]),
        (b'b', &b"a"[..])
    );
    drop(sender);
    assert_eq!(receiver.read(&mut [0]).await.unwrap(), 0);
    std::fs::remove_file(&path).unwrap();
}

pub(crate) async fn have_names_for_others() {
    let path = named("told");
    let mut receiver = OpenOptions::new().open_receiver(&path).unwrap();
    let line = format!("sleep 0.01; echo told >{}", path.display());
    let mut shell = Command::new("sh").args(["-c", &line]).spawn().unwrap();
    let mut text = [0; 5];
    receiver.read_exact(&mut text).await.unwrap();
    assert_eq!(&text, b"told\n");
    assert!(shell.wait().await.unwrap().success());
    std::fs::remove_file(&path).unwrap();
}

/// From and to files that block.
pub(crate) async fn are_files() {
    let (sender, receiver) = pipe().unwrap();
    let mut read = File::from(receiver.into_blocking_fd().unwrap());
    let mut written = File::from(sender.into_blocking_fd().unwrap());
    written.write_all(b"x").unwrap();
    let mut byte = [0];
    read.read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"x");
    let wrong = Sender::from_file(read.try_clone().unwrap()).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::InvalidInput);
    let none = Receiver::from_file(File::open("/dev/null").unwrap()).unwrap_err();
    assert_eq!(none.kind(), ErrorKind::InvalidInput);
    let (mut sender, mut receiver) = (
        Sender::from_file(written).unwrap(),
        Receiver::from_owned_fd(read.into()).unwrap(),
    );
    sender.write_all(b"y").await.unwrap();
    receiver.read_exact(&mut byte).await.unwrap();
    assert_eq!(&byte, b"y");
    drop(receiver);
    let nobody = sender.write(b"z").await.unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::BrokenPipe);
}
