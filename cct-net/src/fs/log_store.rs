//! Logs for protocol libraries: records are appended at once, and flushed some time later.

use super::disks::{Drive, Fate};
use super::handle::{Handle, sync};
use super::open_options::OpenOptions;
use super::operation::{Completion, Intent, lost};
use super::path_ops::on_path;
use crate::errno::Errno;
use cct_executor::shim::{Access, OpKind, Shared};
use cct_executor::words::fingerprint::hash_of;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, SeekFrom};
use std::panic::Location;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Bytes before each record: its length and its checksum.
const HEADER: usize = 12;

/// An append-only log, as protocol libraries need one.
///
/// [`Log`] is the one on a simulated disk; a library that is generic over this trait can have another
/// one in production.
pub trait LogStore: Send + Sync {
    /// Waits for a flush; yields the end of what it made durable.
    type Flush: Future<Output = io::Result<u64>> + Send;

    /// Appends a record, which is not durable yet, and returns its offset.
    fn append(&self, record: &[u8]) -> io::Result<u64>;

    /// Begins to make durable what was appended so far. Several flushes may be under way.
    fn flush(&self) -> Self::Flush;

    /// Removes the record at this offset and all after it. As little durable as an append.
    fn truncate(&self, offset: u64) -> io::Result<()>;

    /// The records with their offsets, in order.
    fn records(&self) -> Vec<(u64, Vec<u8>)>;

    /// The offset that the next record will have.
    fn end(&self) -> u64;
}

/// An append-only log in a file of the node's simulated disk.
///
/// The end of each flush is an action of its own: of several that are under way any one may end
/// first. A crash leaves what the module's rules allow; opening the log again finds the records up
/// to the first one that is torn, cuts off the rest, and flushes the file.
///
/// ```
/// use cct_executor::Checker;
/// use cct_net::fs::{Log, LogStore};
///
/// let report = Checker::new().iterations(100).run(|| async {
///     let log = Log::open("/raft").await.unwrap();
///     log.append(b"vote for 2").unwrap();
///     let first = log.flush();
///     log.append(b"entry 1").unwrap();
///     let second = log.flush();
///     let (first, second) = cct_executor::join!(first, second);
///     assert!(first.unwrap() < second.unwrap());
///     assert_eq!(log.durable(), log.end());
/// });
/// report.assert_passed();
/// ```
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    file: Handle,
    state: Shared<State>,
    site: &'static Location<'static>,
}

#[derive(Default)]
struct State {
    records: BTreeMap<u64, Vec<u8>>,
    end: u64,
    durable: u64,
}

/// A flush of a [`Log`] under way. It goes on when this is dropped.
#[must_use = "a flush that nobody waits for proves nothing"]
pub struct LogFlush {
    completion: Result<Arc<Completion<u64>>, Option<io::Error>>,
    intent: Intent,
}

impl Log {
    /// Opens a log, or makes an empty one. Its name is durable from the start.
    ///
    /// # Errors
    /// When its directory is missing, and those of a disk with faults.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, the log is made, now or later.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Log>> + Send {
        let (path, site) = (path.as_ref().to_owned(), Location::caller());
        on_path((OpKind::Get, Access::Write), site, move |drive| {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true);
            let file = options.open_at(drive, &path, site)?;
            make_name_durable(drive, &path)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let state = recover(&bytes);
            // Before anything is appended: what is cut off must not come back behind it.
            file.set_len(state.end)?;
            drive.with(|disk| disk.tree.sync(file.ino, disk.tree.seq, false))?;
            let state = Shared::new(state);
            Ok(Log {
                inner: Arc::new(Inner { file, state, site }),
            })
        })
    }

    /// Up to which offset everything is known to be durable: what checks look at.
    pub fn durable(&self) -> u64 {
        self.inner.state.with(|state| state.durable)
    }

    #[track_caller]
    fn begin_flush(&self) -> io::Result<Arc<Completion<u64>>> {
        let inner = self.inner.clone();
        let end = inner.state.with(|state| state.end);
        let mark = inner.file.mark()?;
        let completion = Completion::new();
        let done = completion.clone();
        let Handle {
            drive,
            resource,
            identity,
            ..
        } = &self.inner.file;
        drive.start(
            identity ^ FLUSHES,
            resource,
            Location::caller(),
            move |fate| {
                let result = match fate {
                    Fate::Lost => lost(&inner.file.drive),
                    Fate::Due => sync(&inner.file.drive, inner.file.ino, mark, false),
                };
                if result.is_ok() {
                    (inner.state)
                        .with(|state| state.durable = state.durable.max(end.min(state.end)));
                }
                drop(inner);
                done.complete(result.map(|()| end));
            },
        );
        Ok(completion)
    }
}

/// Identity of a log's flushes.
const FLUSHES: u64 = 0x666c_7573;

fn make_name_durable(drive: &Drive, path: &Path) -> io::Result<()> {
    drive.tree(|tree| {
        for directory in path.ancestors().skip(1) {
            let directory = match directory.as_os_str().is_empty() {
                true => Path::new("/"),
                false => directory,
            };
            let ino = tree.lookup(directory)?;
            tree.sync(ino, tree.seq, false);
        }
        Ok::<_, Errno>(())
    })
}

/// The records up to the first that is torn.
fn recover(bytes: &[u8]) -> State {
    let mut state = State::default();
    let mut left = bytes;
    while let Some((header, rest)) = left.split_at_checked(HEADER) {
        let (length, checksum) = header.split_at(4);
        let length = u32::from_le_bytes(length.try_into().expect("4 bytes")) as usize;
        let checksum = u64::from_le_bytes(checksum.try_into().expect("8 bytes"));
        let Some((record, rest)) = rest.split_at_checked(length) else {
            break;
        };
        if checksum != checksum_of(state.end, record) {
            break;
        }
        state.records.insert(state.end, record.to_vec());
        state.end += (HEADER + length) as u64;
        left = rest;
    }
    state.durable = state.end;
    state
}

fn checksum_of(offset: u64, record: &[u8]) -> u64 {
    hash_of(&(offset, record))
}

impl LogStore for Log {
    type Flush = LogFlush;

    /// Appends a record.
    ///
    /// # Scheduling points
    /// One, at granularity `sync`.
    #[track_caller]
    fn append(&self, record: &[u8]) -> io::Result<u64> {
        let Inner { file, state, .. } = &*self.inner;
        file.resource
            .sync_point(OpKind::Write, Access::Write, Location::caller());
        let offset = state.with(|state| state.end);
        let length = u32::try_from(record.len()).map_err(|_| io::Error::from(Errno::EFBIG))?;
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(checksum_of(offset, record).to_le_bytes());
        bytes.extend(record);
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(&bytes)?;
        state.with(|state| {
            state.records.insert(offset, record.to_vec());
            state.end = offset + bytes.len() as u64;
        });
        Ok(offset)
    }

    /// Begins a flush.
    ///
    /// # Scheduling points
    /// One, at granularity `sync`; its end is an action of its own.
    #[track_caller]
    fn flush(&self) -> LogFlush {
        let site = Location::caller();
        let resource = self.inner.file.resource.clone();
        resource.sync_point(OpKind::Flush, Access::Write, site);
        LogFlush {
            completion: self.begin_flush().map_err(Some),
            intent: Intent {
                resource,
                kind: OpKind::Flush,
                access: Access::Read,
                site,
            },
        }
    }

    /// Removes records from the end.
    ///
    /// # Scheduling points
    /// One, at granularity `sync`.
    #[track_caller]
    fn truncate(&self, offset: u64) -> io::Result<()> {
        let Inner { file, state, .. } = &*self.inner;
        file.resource
            .sync_point(OpKind::Write, Access::Write, Location::caller());
        let valid = state.with(|state| state.end == offset || state.records.contains_key(&offset));
        if !valid {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("no record of the log begins at offset {offset}"),
            ));
        }
        file.set_len(offset)?;
        state.with(|state| {
            state.records.split_off(&offset);
            state.end = offset;
            state.durable = state.durable.min(offset);
        });
        Ok(())
    }

    fn records(&self) -> Vec<(u64, Vec<u8>)> {
        self.inner.state.with(|state| {
            let records = state.records.iter();
            records
                .map(|(&offset, record)| (offset, record.clone()))
                .collect()
        })
    }

    fn end(&self) -> u64 {
        self.inner.state.with(|state| state.end)
    }
}

impl Future for LogFlush {
    type Output = io::Result<u64>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = &mut *self;
        match &mut this.completion {
            Ok(completion) => completion.poll(cx, &this.intent),
            Err(error) => Poll::Ready(Err(error.take().expect("a flush polled after its end"))),
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, end, durable) = self
            .inner
            .state
            .with(|state| (state.records.len(), state.end, state.durable));
        f.debug_struct("Log")
            .field("opened", &format_args!("{}", self.inner.site))
            .field("records", &records)
            .field("end", &end)
            .field("durable", &durable)
            .finish()
    }
}

impl fmt::Debug for LogFlush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self
            .completion
            .as_ref()
            .map_or(true, |flush| flush.is_complete());
        f.debug_struct("LogFlush").field("ended", &ended).finish()
    }
}
