//! All that is there in the end.

use super::super::rt::{fs, permissions};
use super::names::Names;
use super::told::{entry, text, told};
use cct_tests::{Log, note};
use std::path::{Path, PathBuf};

/// Notes everything from the top on, and which names are those of one file.
pub(super) async fn note_all(names: &Names, log: &Log) {
    let mut numbers = Vec::new();
    let mut todo = vec![names.top().to_owned()];
    while let Some(path) = todo.pop() {
        let found = children(&path).await;
        for (child, number, line) in found {
            let known = numbers.iter().position(|&other| other == number);
            let which = known.unwrap_or(numbers.len());
            if known.is_none() {
                numbers.push(number);
            }
            if !names.is_nest(&child) {
                note!(log, "{} is {which}: {line}", names.shown(&child));
            }
            let found = fs::symlink_metadata(&child).await.expect("it was there");
            if !found.is_symlink() {
                let done = fs::set_permissions(&child, permissions(0o700)).await;
                assert!(done.is_ok(), "it is ours");
            }
            if found.is_file() {
                let bytes = fs::read(&child).await;
                note!(log, "    {}", told(bytes, |bytes| text(&bytes)));
            } else if found.is_dir() {
                todo.push(child);
            } else {
                let to = fs::read_link(&child).await.expect("it is a link");
                assert_eq!(found.len(), to.as_os_str().len() as u64);
                note!(log, "    {}", names.shown(&to));
            }
        }
    }
}

/// Makes sure that all below a directory can be removed: what is left otherwise depends on the order of
/// names in directories.
pub(super) async fn open_up(path: PathBuf) {
    let mut todo = vec![path];
    while let Some(path) = todo.pop() {
        let found = fs::symlink_metadata(&path).await;
        if !found.is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let opened = fs::set_permissions(&path, permissions(0o700)).await;
        assert!(opened.is_ok(), "it is ours");
        todo.extend(children(&path).await.into_iter().map(|(child, ..)| child));
    }
}

async fn children(path: &Path) -> Vec<(PathBuf, u64, String)> {
    let mut children = Vec::new();
    let mut entries = fs::read_dir(path).await.expect("it may be read");
    while let Some(found) = entries.next_entry().await.expect("it may be read") {
        children.push((found.path(), found.ino(), entry(&found, path).await));
    }
    children.sort();
    children
}
