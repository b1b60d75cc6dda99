//! What was seen, as text.

#![expect(
    clippy::disallowed_types,
    reason = "times are given to files and read again"
)]

use super::super::rt::{Metadata, fs, links};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A result; an error with its kind, its number and its text. What the standard library finds wrong
/// with arguments has a number in some of its versions and a text in others.
pub(super) fn told<T, E: std::borrow::Borrow<io::Error>>(
    result: Result<T, E>,
    shown: impl FnOnce(T) -> String,
) -> String {
    match result {
        Ok(value) => shown(value),
        Err(error) => {
            let error = error.borrow();
            match error.kind() {
                io::ErrorKind::InvalidInput => "InvalidInput".to_owned(),
                kind => format!("{kind:?} {:?} {error}", error.raw_os_error()),
            }
        }
    }
}

pub(super) fn unit(_: impl Sized) -> String {
    "done".to_owned()
}

/// Bytes, made short.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut runs: Vec<(u8, usize)> = Vec::new();
    for &byte in bytes {
        match runs.last_mut() {
            Some((last, count)) if *last == byte => *count += 1,
            _ => runs.push((byte, 1)),
        }
    }
    let run = |(byte, count): &(u8, usize)| format!("{}*{count}", byte.escape_ascii());
    let runs: Vec<String> = runs.iter().map(run).collect();
    format!("[{}]", runs.join(" "))
}

/// A time that the clock will not show.
pub(super) fn time(number: u8) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + u64::from(number % 4))
}

fn time_told(shown: SystemTime) -> String {
    match (0..4).find(|&number| time(number) == shown) {
        Some(number) => format!("time {number}"),
        None => "now".to_owned(),
    }
}

/// What is known of something. The size of a directory and how many names it has are its file
/// system's business, and how long a link is depends on where everything is.
pub(super) fn known(found: &Metadata) -> String {
    let kind = (found.is_file(), found.is_dir(), found.is_symlink());
    let file_type = found.file_type();
    assert_eq!(
        kind,
        (
            file_type.is_file(),
            file_type.is_dir(),
            file_type.is_symlink()
        )
    );
    let permissions = found.permissions();
    let (mode, readonly) = (permissions.mode(), permissions.readonly());
    let modified = told(found.modified(), time_told);
    let common = format!("{mode:o} {readonly} {modified}");
    match (found.is_file(), found.is_symlink()) {
        (true, _) => format!("{common} {} bytes {} names", found.len(), links(found)),
        (_, true) => format!("{common} {} names", links(found)),
        _ => common,
    }
}

/// Something in a directory.
pub(super) async fn entry(found: &fs::DirEntry, directory: &Path) -> String {
    assert_eq!(found.path(), directory.join(found.file_name()));
    let file_type = told(found.file_type().await, |is| {
        format!("{} {} {}", is.is_file(), is.is_dir(), is.is_symlink())
    });
    let metadata = told(found.metadata().await, |found| known(&found));
    format!("{:?} {file_type} {metadata}", found.file_name())
}
