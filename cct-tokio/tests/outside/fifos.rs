//! FIFOs, of which opening one side waits until the other is opened.

use super::rt;
use rt::task::spawn_blocking;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::PathBuf;

/// A path at which a FIFO is, made by a process.
fn made(name: &str) -> (PathBuf, impl Drop) {
    struct Removed(PathBuf);
    impl Drop for Removed {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
    let path = std::env::temp_dir().join(format!("cct-fifo-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    (path.clone(), Removed(path))
}

/// Each side is opened by a closure, the one that writes first.
pub(crate) async fn are_opened_by_two_closures() {
    let (path, _removed) = made("closures");
    let writes = path.clone();
    let writing = spawn_blocking(move || {
        let mut fifo = OpenOptions::new().write(true).open(writes).unwrap();
        fifo.write_all(b"through it").unwrap();
    });
    let reading = spawn_blocking(move || {
        let mut text = String::new();
        let mut fifo = OpenOptions::new().read(true).open(path).unwrap();
        fifo.read_to_string(&mut text).unwrap();
        text
    });
    writing.await.unwrap();
    assert_eq!(reading.await.unwrap(), "through it");
}

/// By the file functions of tokio, whose closures these are.
pub(crate) async fn are_fifos() {
    let (path, _removed) = made("files");
    let (written, read) = rt::join!(rt::fs::write(&path, "hello"), rt::fs::read(&path));
    written.unwrap();
    assert_eq!(read.unwrap(), b"hello");
}
