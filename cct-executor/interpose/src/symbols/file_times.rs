//! When files were changed, made and read, by the clocks that a thread has in the place of the machine's.
//!
//! The machine notes its own time, which a world knows nothing of: what was written just now would be of another month, and no
//! older after a sleep.
//!
//! 1. A file that is [changed](note) here has the time of the clocks here.
//! 2. So has one that is found changed: by another process, through mapped memory, as a folder.
//! 3. One from before is as old, when a world begins, as it was by the machine's clock when the code around the world stopped, or the
//!    process's first world began: the same in all iterations, as what a test does may depend on it.
//! 4. Who sets a time sees that.
//! 5. What was noted is forgotten when a world begins that goes on from no other.

use super::clocks;
use crate::system::Clocks;
use libc::{c_char, c_int, c_uint};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::zeroed;
use std::sync::OnceLock;
use std::time::Duration;

/// What a file has, and is asked for.
pub(super) const TIMES: c_uint =
    libc::STATX_MTIME | libc::STATX_CTIME | libc::STATX_ATIME | libc::STATX_BTIME;

/// Nanoseconds since 1970, or before.
pub(super) type Time = i128;

/// When a file's content was changed, when anything of it was, when it was read, and when it was made.
type Times = [Time; 4];

const SECOND: Time = 1_000_000_000;

/// What is done with a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    /// It is made.
    Make,
    /// It is written.
    Write,
    /// It is said when it was changed and when it was read, if it is.
    Set {
        changed: Option<Time>,
        read: Option<Time>,
    },
}

#[derive(Clone, Copy, Default)]
struct File {
    by_machine: Times,
    here: Times,
}

/// The files that were seen, by device and number.
#[derive(Default)]
struct Files(BTreeMap<(u32, u32, u64), File>);

/// From when on files are the world's, and what its clocks show then.
#[derive(Clone, Copy)]
struct Beginning {
    by_machine: Time,
    here: Time,
}

/// When the process's first world began that goes on from no other, by the machine's clock.
static FIRST_WORLD: OnceLock<Time> = OnceLock::new();

thread_local! {
    static BEGINNING: Cell<Option<Beginning>> = const { Cell::new(None) };
    /// When the code of this thread stopped, by the machine's clock.
    static STOPPED: Cell<Option<Time>> = const { Cell::new(None) };
    /// Anything was noted.
    static USED: Cell<bool> = const { Cell::new(false) };
    /// Boxed, as whoever watches this thread's variables is to see nothing move.
    static FILES: RefCell<Box<Files>> = RefCell::default();
}

/// The code of this thread goes on in the world that begins next, and what passes until then passes for none of its files.
pub(crate) fn stop() {
    STOPPED.set(Some(by_machine()));
}

/// The machine's time. Files may have that of some ms before.
fn by_machine() -> Time {
    time_of(clocks::real(libc::CLOCK_REALTIME))
}

fn time_of(since_1970: Duration) -> Time {
    since_1970.as_nanos() as Time
}

/// What the kernel's seconds and nanoseconds are.
pub(super) fn made_of(seconds: i64, nanoseconds: i64) -> Time {
    Time::from(seconds) * SECOND + Time::from(nanoseconds)
}

/// A world begins on this thread, with clocks that show this.
#[inline]
pub(crate) fn begin(clocks: Clocks) {
    let goes_on = clocks != Clocks::ZERO;
    let begins = || match goes_on {
        true => by_machine(),
        false => *FIRST_WORLD.get_or_init(by_machine),
    };
    BEGINNING.set(Some(Beginning {
        by_machine: STOPPED.take().unwrap_or_else(begins),
        here: time_of(clocks.wall),
    }));
    if !goes_on && USED.replace(false) {
        let _ = FILES.try_with(|files| files.borrow_mut().0.clear());
    }
}

impl Beginning {
    /// What is shown for a time of the machine's that was not seen before. What is made in the first ms may seem
    /// to be from before: those who make files say so.
    fn first(self, noted: Time, now: Time) -> Time {
        if noted > self.by_machine {
            return now;
        }
        self.here - (self.by_machine - noted)
    }
}

impl Files {
    /// Somebody looks at a file, of which the machine says this.
    fn look(&mut self, told: &libc::statx, now: Time) -> Times {
        let beginning = BEGINNING.get().unwrap_or(Beginning {
            by_machine: by_machine(),
            here: now,
        });
        let number = number_of(told);
        let known = self.0.get(&number).copied();
        let mut file = known.unwrap_or_default();
        for (at, noted) in times_of(told).into_iter().enumerate() {
            if known.is_none() || file.by_machine[at] != noted {
                file.by_machine[at] = noted;
                file.here[at] = beginning.first(noted, now);
            }
        }
        self.0.insert(number, file);
        file.here
    }

    fn note(&mut self, told: &libc::statx, deed: Deed, now: Time) {
        self.look(told, now);
        let Some(file) = self.0.get_mut(&number_of(told)) else {
            return;
        };
        let [changed, touched, read, made] = &mut file.here;
        *touched = now;
        match deed {
            Deed::Make => (*changed, *read, *made) = (now, now, now),
            Deed::Write => *changed = now,
            Deed::Set {
                changed: content,
                read: access,
            } => {
                *changed = content.unwrap_or(*changed);
                *read = access.unwrap_or(*read);
            }
        }
    }
}

fn number_of(told: &libc::statx) -> (u32, u32, u64) {
    (told.stx_dev_major, told.stx_dev_minor, told.stx_ino)
}

fn times_of(told: &libc::statx) -> Times {
    let all = [
        told.stx_mtime,
        told.stx_ctime,
        told.stx_atime,
        told.stx_btime,
    ];
    all.map(|time| made_of(time.tv_sec, time.tv_nsec.into()))
}

/// What the clock of this thread shows, if it is not the machine's.
pub(super) fn now() -> Option<Time> {
    clocks::date_unlooked().map(time_of)
}

/// Shows the times that the machine has told by the clocks here.
pub(super) fn show(told: &mut libc::statx, now: Time) {
    let Some(times) = with_files(|files| files.look(told, now)) else {
        return;
    };
    let [changed, touched, read, made] = times;
    for (time, shown) in [
        (&mut told.stx_mtime, changed),
        (&mut told.stx_ctime, touched),
        (&mut told.stx_atime, read),
        (&mut told.stx_btime, made),
    ] {
        time.tv_sec = i64::try_from(shown.div_euclid(SECOND)).unwrap_or(i64::MAX);
        time.tv_nsec = shown.rem_euclid(SECOND) as u32;
    }
}

/// Something was done with a file, which is that of a descriptor, or of a path as for `statx`.
///
/// # Safety
/// As for `statx`.
#[cold]
pub(super) unsafe fn note(
    (folder, path, flags): (c_int, *const c_char, c_int),
    deed: Deed,
    now: Time,
) {
    // SAFETY: all zeroes are a value of it; and the caller's promise.
    let (told, found) = unsafe {
        let mut told: libc::statx = zeroed();
        let mask = TIMES | libc::STATX_TYPE | libc::STATX_INO;
        let found = super::files::of_the_machine(folder, path, flags, mask, &raw mut told);
        (told, found)
    };
    // Pipes and sockets have no use for it.
    let kind = u32::from(told.stx_mode) & libc::S_IFMT;
    if found == 0 && (kind == libc::S_IFREG || kind == libc::S_IFDIR) {
        with_files(|files| files.note(&told, deed, now));
    }
}

fn with_files<R>(f: impl FnOnce(&mut Files) -> R) -> Option<R> {
    USED.set(true);
    let with = |files: &RefCell<Box<Files>>| Some(f(&mut *files.try_borrow_mut().ok()?));
    FILES.try_with(with).ok().flatten()
}
