//! How old files are by a world's clocks.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#![expect(
    clippy::disallowed_types,
    reason = "the clock is the one that is under control"
)]

use cct_interpose::{Clocks, System, begin, end};
use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const SECOND: Duration = Duration::from_secs(1);

thread_local! {
    static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

const SYSTEM: System = System {
    clock: || PASSED.get(),
    unlooked: || PASSED.get(),
    ..System::AS_EVER
};

/// A folder of the test's own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("cct-interpose-{name}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        fs::create_dir(&folder.0).expect("a folder");
        folder
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn in_a_world<R>(body: impl FnOnce() -> R) -> R {
    PASSED.set(Duration::ZERO);
    begin(1, SYSTEM, Clocks::ZERO);
    let result = body();
    end();
    result
}

fn pass(time: Duration) {
    PASSED.set(PASSED.get() + time);
}

/// For how long the clock that is there has gone on since then.
fn since(time: std::io::Result<SystemTime>) -> Duration {
    let age = time.expect("a time").elapsed();
    age.expect("one that has passed")
}

fn age(path: &Path) -> Duration {
    since(fs::metadata(path).expect("a file").modified())
}

#[test]
fn a_file_is_as_old_as_the_world_says() {
    let folder = Folder::new("old");
    let path = folder.file("a");
    in_a_world(|| {
        pass(7 * SECOND);
        fs::write(&path, "1").expect("to write");
        assert_eq!(age(&path), Duration::ZERO);
        pass(10 * SECOND);
        assert_eq!(age(&path), 10 * SECOND);
        fs::write(&path, "2").expect("to write");
        assert_eq!(age(&path), Duration::ZERO);
        let made = fs::metadata(&path).expect("a file").created();
        assert_eq!(since(made), 10 * SECOND);
    });
}

#[test]
fn who_keeps_a_file_open_changes_it() {
    let folder = Folder::new("open");
    let path = folder.file("a");
    in_a_world(|| {
        let opened = OpenOptions::new().create(true).append(true).open(&path);
        let mut file = opened.expect("a file");
        let changes: [fn(&mut File); 4] = [
            |file| file.write_all(b"one").expect("to write"),
            |file| {
                let parts = [b"two", b"six"].map(|part| std::io::IoSlice::new(part));
                assert_eq!(file.write_vectored(&parts).expect("to write"), 6);
            },
            |file| file.set_len(2).expect("to cut"),
            |file| {
                use std::os::unix::fs::FileExt as _;
                file.rewind().expect("the beginning");
                file.write_all_at(b"ten", 0).expect("to write");
            },
        ];
        for change in changes {
            pass(3 * SECOND);
            assert_eq!(age(&path), 3 * SECOND);
            change(&mut file);
            assert_eq!(age(&path), Duration::ZERO);
        }
        let told = file.metadata().expect("a file");
        assert_eq!(since(told.created()), 12 * SECOND);
        assert_eq!(since(told.accessed()), 12 * SECOND);
    });
}

#[test]
fn what_is_made_again_is_new() {
    let folder = Folder::new("again");
    let (path, inner) = (folder.file("a"), folder.file("b"));
    in_a_world(|| {
        for _ in 0..3 {
            fs::create_dir(&path).expect("a folder");
            File::create_new(&inner).expect("a file");
            for path in [&path, &inner] {
                let told = fs::metadata(path).expect("what was made");
                assert_eq!(since(told.modified()), Duration::ZERO);
                assert_eq!(since(told.created()), Duration::ZERO);
            }
            fs::remove_dir(&path).expect("to remove");
            fs::remove_file(&inner).expect("to remove");
            pass(SECOND);
        }
    });
}

#[test]
fn what_was_there_is_as_old_as_it_is() {
    let folder = Folder::new("before");
    let path = folder.file("a");
    let file = File::create(&path).expect("a file");
    let hour = 3600 * SECOND;
    file.set_modified(SystemTime::now() - hour).expect("to set");
    // A world of another test may have begun before that.
    let about = hour - 600 * SECOND;
    in_a_world(|| {
        assert!(age(&path) >= about && age(&path) < 2 * hour);
        let first = age(&path);
        pass(hour);
        assert_eq!(age(&path), first + hour);
    });
    assert!(age(&path) >= hour && age(&path) < 2 * hour);
}

/// What a test does may depend on it, so iterations are to see the same.
#[test]
fn what_was_there_is_as_old_in_every_world() {
    let folder = Folder::new("same");
    let path = folder.file("a");
    let file = File::create(&path).expect("a file");
    file.set_modified(SystemTime::now() - 3600 * SECOND)
        .expect("to set");
    let shown = || {
        let told = fs::metadata(&path).expect("a file");
        told.modified().expect("a time")
    };
    let first = in_a_world(shown);
    // Time passes on the machine.
    fs::write(folder.file("b"), [0; 1 << 16]).expect("to write");
    assert_eq!(in_a_world(shown), first);
}

#[test]
fn a_time_that_is_set_is_shown() {
    let folder = Folder::new("set");
    let path = folder.file("a");
    let day = 24 * 3600 * SECOND;
    in_a_world(|| {
        let file = File::create(&path).expect("a file");
        let yesterday = SystemTime::now() - day;
        file.set_modified(yesterday).expect("to set");
        let told = || fs::metadata(&path).expect("a file");
        assert_eq!(told().modified().expect("a time"), yesterday);
        pass(SECOND);
        assert_eq!(since(told().modified()), day + SECOND);
        let long_ago = SystemTime::UNIX_EPOCH - 5 * SECOND / 2;
        file.set_modified(long_ago).expect("to set");
        assert_eq!(told().modified().expect("a time"), long_ago);
        file.set_modified(yesterday).expect("to set");
        assert_eq!(since(told().accessed()), SECOND);
        file.set_times(fs::FileTimes::new()).expect("to set");
        assert_eq!(told().modified().expect("a time"), yesterday);
    });
}

#[test]
fn a_world_knows_nothing_of_the_one_before() {
    let folder = Folder::new("other");
    let path = folder.file("a");
    in_a_world(|| {
        pass(100 * SECOND);
        fs::write(&path, "1").expect("to write");
    });
    in_a_world(|| assert!(age(&path) < 10 * SECOND));
}

#[test]
fn elsewhere_times_are_the_machines() {
    let folder = Folder::new("elsewhere");
    let path = folder.file("a");
    in_a_world(|| fs::write(&path, "1").expect("to write"));
    let changed = fs::metadata(&path).expect("a file").modified();
    let now = SystemTime::now();
    let changed = changed.expect("a time");
    assert!(changed <= now && changed > now - 3600 * SECOND);
}
