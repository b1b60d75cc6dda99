//! Open files.

use super::super::rt::*;
use super::names::{MODES, data};
use super::told::{known, text, time, told, unit};
use cct_tests::fuzz::Act;
use cct_tests::{Log, note};
use std::io::SeekFrom;

/// How many files may be open.
const OPEN: usize = 4;

#[derive(Default)]
pub(super) struct Handles {
    open: Vec<Handle>,
    names: usize,
    /// The one that may have a write under way.
    busy: Option<usize>,
    /// The one that may have something under way that nobody waits for.
    given_up: Option<usize>,
}

struct Handle {
    name: usize,
    file: fs::File,
    /// What a position in a directory means is its file system's business.
    is_directory: bool,
}

impl Handles {
    /// Keeps a file; the oldest one makes way.
    pub(super) async fn put(&mut self, file: fs::File) {
        let found = file.metadata().await.expect("it is open");
        if self.open.len() == OPEN {
            self.open.remove(0);
            settle().await;
        }
        self.names += 1;
        self.open.push(Handle {
            name: self.names,
            file,
            is_directory: found.is_dir(),
        });
    }

    pub(super) async fn act(&mut self, what: u8, act: Act, log: &Log) {
        let Some(index) = act.pick(&self.open) else {
            return;
        };
        // Some do not wait for what is under way.
        let waits = !matches!(what, 10..=12);
        let name = self.open[index].name;
        self.calm(waits.then_some(name), log).await;
        self.busy = Some(name);
        let Handle {
            file, is_directory, ..
        } = &mut self.open[index];
        let done = match what {
            ..=1 => reading(what, act, file).await,
            2..=4 => writing(act, file).await,
            5 | 6 if !*is_directory => seeking(act, file).await,
            7 => set_len(act, file).await,
            8 => told(file.flush().await, unit),
            9 => syncing(act, file).await,
            10 => told(file.metadata().await, |found| known(&found)),
            11 => about(act, file).await,
            12 if act.b < 128 => match file.try_clone().await {
                Ok(clone) => {
                    note!(log, "file {name}: cloned");
                    return self.put(clone).await;
                }
                Err(error) => told(Err::<(), _>(error), unit),
            },
            12 if act.b < 200 => {
                note!(log, "file {name}: dropped");
                drop(self.open.remove(index));
                return settle().await;
            }
            _ => return,
        };
        note!(log, "file {name}: {what} {}: {done}", act.b);
        if done.ends_with("given up") {
            self.given_up = Some(name);
        }
    }

    /// Has all come to its end that does not belong to this file: others would meet it half done.
    pub(super) async fn calm(&mut self, except: Option<usize>, log: &Log) {
        let left = self.given_up.filter(|_| self.given_up != except);
        self.given_up = self.given_up.filter(|_| left.is_none());
        if let Some(handle) = self.open.iter_mut().find(|open| Some(open.name) == left) {
            // The first one may tell of a failure, and nothing else.
            for _ in 0..2 {
                note!(log, "    {}", told(handle.file.flush().await, unit));
            }
            // If another one moves the position below what was read, tokio cannot go back when it writes,
            // and takes what it did not write for something that was read.
            if !handle.is_directory {
                let _ = handle.file.stream_position().await;
            }
        }
        if self.busy != except || except.is_none() {
            settle().await;
        }
    }
}

const SIZES: [usize; 6] = [0, 1, 3, 8, 100, 1000];

async fn reading(what: u8, act: Act, file: &mut fs::File) -> String {
    let mut buffer = vec![b'.'; SIZES[usize::from(act.b) % SIZES.len()]];
    let (mut all, mut string) = (b"!".to_vec(), "!".to_owned());
    match (what, act.b / 32) {
        (0, 7) => {
            abandon(file.read(&mut buffer)).await;
            "read given up".to_owned()
        }
        (0, _) => {
            let read = file.read(&mut buffer).await;
            format!("{} {}", told(read, |n| n.to_string()), text(&buffer))
        }
        (_, ..4) => {
            let read = file.read_exact(&mut buffer).await;
            told(read, |n| format!("{n} {}", text(&buffer)))
        }
        (_, 4 | 5) => {
            let read = file.read_to_end(&mut all).await;
            format!("{} {}", told(read, |n| n.to_string()), text(&all))
        }
        _ => {
            let read = file.read_to_string(&mut string).await;
            format!(
                "{} {}",
                told(read, |n| n.to_string()),
                text(string.as_bytes())
            )
        }
    }
}

async fn writing(act: Act, file: &mut fs::File) -> String {
    let bytes = data(act.b);
    match act.what / 40 {
        0 => told(file.write(&bytes).await, |n| n.to_string()),
        1 => {
            let written = told(file.write(&bytes).await, |n| n.to_string());
            format!("{written}, {}", told(file.flush().await, unit))
        }
        2 => {
            abandon(file.write_all(&bytes)).await;
            "write given up".to_owned()
        }
        3 => {
            let written = told(file.write_all(&bytes).await, unit);
            format!("{written}, {}", told(file.shutdown().await, unit))
        }
        _ => told(file.write_all(&bytes).await, unit),
    }
}

async fn seeking(act: Act, file: &mut fs::File) -> String {
    const OFFSETS: [i64; 8] = [0, 1, 5, 39, 2000, -1, -4, -700];
    let by = OFFSETS[usize::from(act.b % 8)];
    let to = match act.b / 8 % 4 {
        0 => SeekFrom::Start(by as u64),
        1 => SeekFrom::End(by),
        _ => SeekFrom::Current(by),
    };
    let done = match act.b / 32 {
        7 => {
            abandon(file.seek(to)).await;
            return "seek given up".to_owned();
        }
        6 => file.rewind().await,
        5 => file.stream_position().await,
        _ => file.seek(to).await,
    };
    told(done, |at| at.to_string())
}

async fn set_len(act: Act, file: &mut fs::File) -> String {
    const LENGTHS: [u64; 8] = [0, 1, 3, 30, 512, 700, 1 << 63, u64::MAX];
    let len = LENGTHS[usize::from(act.b % 8)];
    // After a write that failed, tokio panics if an operation is under way that was given up.
    let _ = file.stream_position().await;
    if act.b / 32 == 7 {
        abandon(file.set_len(len)).await;
        return "length given up".to_owned();
    }
    told(file.set_len(len).await, unit)
}

/// Flushing is slow on a real disk: most times one of the others is done.
async fn syncing(act: Act, file: &mut fs::File) -> String {
    match act.b {
        ..4 => told(file.sync_all().await, unit),
        4..8 => told(file.sync_data().await, unit),
        8..64 => {
            file.set_max_buf_size([1, 3, 16, 4096][usize::from(act.b % 4)]);
            format!("buffer {}", file.max_buf_size())
        }
        _ => told(file.flush().await, unit),
    }
}

async fn about(act: Act, file: &mut fs::File) -> String {
    let number = usize::from(act.b);
    match act.b / 64 {
        0 => told(file.set_modified(time(act.b)).await, unit),
        1 => {
            let times = fs::FileTimes::new();
            let times = match act.b % 2 {
                0 => times.set_modified(time(act.b / 2)),
                _ => times.set_accessed(time(act.b / 2)),
            };
            told(file.set_times(times).await, unit)
        }
        _ => {
            let mode = MODES[number % MODES.len()];
            told(file.set_permissions(permissions(mode)).await, unit)
        }
    }
}
