//! Files and directories: functions on paths, open files, and the whole tree at the end.
//!
//! Names are few, so that most acts meet something that is there: a directory where a file is meant,
//! a link in the middle of a path, a file that is open and has no name any more.
//!
//! What runs in the background is compared when it is done, as nobody promises when that is: acts on
//! the `File` that has a write under way find it there, all others come after it.

mod handles;
mod names;
mod told;
mod tree;

use super::rt::{abandon, fs, permissions, settle};
use cct_tests::fuzz::{Act, Script};
use cct_tests::{Log, note};
use handles::Handles;
use names::{MODES, Names, data};
use std::io;
use std::path::PathBuf;
use told::{entry, known, text, told, unit};

/// Plays a script in an empty directory, which no script leads out of.
pub(crate) async fn play(script: Script, log: Log, top: PathBuf) {
    let names = Names::new(top);
    fs::create_dir_all(names.base())
        .await
        .expect("the directory is empty");
    start(script.setting, &names).await;
    let mut handles = Handles::default();
    for act in script.acts {
        match act.what % 40 {
            what @ ..27 => {
                handles.calm(None, &log).await;
                if let Some(opened) = on_paths(what, act, &names, &log).await {
                    handles.put(opened).await;
                }
            }
            what => handles.act(what - 27, act, &log).await,
        }
    }
    handles.calm(None, &log).await;
    drop(handles);
    settle().await;
    tree::note_all(&names, &log).await;
}

/// Something to begin with, most times: much of what is done with what is not there is the same.
async fn start(setting: u8, names: &Names) {
    let at = |name: &str| names.base().join(name);
    let is = |bit: u8| setting & 1 << bit != 0;
    for (bit, name) in [(0, "a"), (1, "b"), (2, "a/b"), (3, "d")] {
        if !is(bit) {
            let _ = fs::create_dir(at(name)).await;
        }
    }
    for (bit, name) in [(4, "c"), (5, "a/a"), (0, "b/b"), (3, "a/b/a")] {
        if !is(bit) || is(7) {
            let _ = fs::write(at(name), "first").await;
        }
    }
    for (bit, name, target) in [(6, "d", "a"), (7, "b/a", "../c"), (2, "a/a/a", "../../b")] {
        if !is(bit) {
            let _ = fs::symlink(target, at(name)).await;
        }
    }
    if !is(1) {
        let _ = fs::hard_link(at("c"), at("b/c")).await;
    }
}

/// Whether only the first poll is to be made.
fn gives_up(act: Act) -> bool {
    act.what >= 240
}

/// Changes something, or begins to and goes away.
async fn change(act: Act, future: impl Future<Output = io::Result<()>>) -> String {
    if gives_up(act) {
        abandon(future).await;
        return "given up".to_owned();
    }
    told(future.await, unit)
}

/// What is done with one path or two; a file that is opened is returned.
async fn on_paths(what: u8, act: Act, names: &Names, log: &Log) -> Option<fs::File> {
    let (path, other) = (names.path(act.a), names.path(act.b));
    let a = names.shown(&path);
    match what {
        ..9 => {
            let seen = look(what, path, names, log).await;
            note!(log, "look {what} at {a}: {seen}");
        }
        9..16 => {
            let done = one_name(what, act, path, names).await;
            note!(log, "{} {a} {}: {done}", ONE[usize::from(what - 9)], act.b);
        }
        16..22 => {
            let (b, done) = two_names(what, act, path, other, names).await;
            note!(log, "{} {a} {b}: {done}", TWO[usize::from(what - 16)]);
        }
        22 => {
            let mode = MODES[usize::from(act.b) % MODES.len()];
            let done = fs::set_permissions(path, permissions(mode)).await;
            note!(log, "chmod {a} {mode:o}: {}", told(done, unit));
        }
        23 => {
            let bytes = data(act.b);
            let shown = text(&bytes);
            let done = change(act, fs::write(path, bytes)).await;
            note!(log, "write {a} {shown}: {done}");
        }
        _ => {
            let result = opened(what, act, path).await;
            let done = told(result.as_ref().map(drop), unit);
            note!(log, "open {a} {what} {:08b}: {done}", act.b);
            return result.ok();
        }
    }
    None
}

const ONE: [&str; 7] = [
    "dir",
    "dir",
    "dirs",
    "build",
    "unlink",
    "rmdir",
    "remove all of",
];

async fn one_name(what: u8, act: Act, path: PathBuf, names: &Names) -> String {
    match what {
        9 | 10 => change(act, fs::create_dir(path)).await,
        11 => change(act, fs::create_dir_all(path)).await,
        12 => {
            let mut builder = fs::DirBuilder::new();
            builder.recursive(act.b % 2 == 0);
            builder.mode(MODES[usize::from(act.b / 2) % MODES.len()]);
            told(builder.create(path).await, unit)
        }
        13 => change(act, fs::remove_file(path)).await,
        14 => change(act, fs::remove_dir(path)).await,
        _ if names.may_be_emptied(&path) => {
            tree::open_up(path.clone()).await;
            change(act, fs::remove_dir_all(path)).await
        }
        _ => "left alone".to_owned(),
    }
}

const TWO: [&str; 6] = ["rename", "rename", "link", "symlink", "symlink", "copy"];

async fn two_names(
    what: u8,
    act: Act,
    path: PathBuf,
    other: PathBuf,
    names: &Names,
) -> (String, String) {
    let b = names.shown(&other);
    let done = match what {
        16 | 17 => change(act, fs::rename(path, other)).await,
        18 => change(act, fs::hard_link(path, other)).await,
        19 | 20 => {
            let target = names.target(act.b);
            let shown = names.shown(&target);
            return (shown, change(act, fs::symlink(target, path)).await);
        }
        _ => told(fs::copy(path, other).await, |n| n.to_string()),
    };
    (b, done)
}

async fn look(what: u8, path: PathBuf, names: &Names, log: &Log) -> String {
    match what {
        0 => told(fs::read(path).await, |bytes| text(&bytes)),
        1 => told(fs::read_to_string(path).await, |read| text(read.as_bytes())),
        2 => told(fs::read_link(path).await, |to| names.shown(&to)),
        3 => told(fs::canonicalize(path).await, |to| names.shown(&to)),
        4 => told(fs::metadata(path).await, |found| known(&found)),
        5 => told(fs::symlink_metadata(path).await, |found| known(&found)),
        6 => told(fs::try_exists(path).await, |there| there.to_string()),
        _ => match fs::read_dir(&path).await {
            Err(error) => told(Err::<(), _>(error), unit),
            Ok(mut entries) => {
                let mut lines = Vec::new();
                while let Some(found) = entries.next_entry().await.expect("it can be read") {
                    lines.push(entry(&found, &path).await);
                }
                lines.sort();
                for line in &lines {
                    note!(log, "    {line}");
                }
                format!("{} entries", lines.len())
            }
        },
    }
}

/// All combinations, with what makes sense more often.
fn options(act: Act) -> fs::OpenOptions {
    let is = |bit: u8| act.b & 1 << bit != 0;
    let mut options = fs::OpenOptions::new();
    options
        .read(is(0) || is(6))
        .write(is(1) || is(7))
        .append(is(2))
        .truncate(is(3))
        .create(is(4))
        .create_new(is(5) && is(6));
    if act.a % 3 == 0 {
        options.mode(MODES[usize::from((act.what / 40) ^ act.b) % MODES.len()]);
    }
    options
}

async fn opened(what: u8, act: Act, path: PathBuf) -> io::Result<fs::File> {
    match (what, act.b % 3) {
        (24 | 25, _) => options(act).open(path).await,
        (_, 0) => fs::File::open(path).await,
        (_, 1) => fs::File::create(path).await,
        _ => fs::File::create_new(path).await,
    }
}
