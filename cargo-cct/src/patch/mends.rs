//! Packages that no world can control, and the mends of their copies.
//!
//! Some draw random numbers past the system: each seeds a generator from a counter of the process, which goes on from
//! iteration to iteration. The same decisions would lead to different runs, in code that nobody can change but
//! their authors. The copies seed it from the system's random bytes, and those are the world's where
//! `cct-interpose` is at work.
//!
//! Others, with which tests stand in for servers, run theirs in a thread of the standard library, which has no world, and
//! keep it for the next test, whose world is another one. The copies run it in a thread of tokio's pool, a new one each time.
//!
//! One keeps what waits for a lock in a thread-local, as if a thread could wait once only. In the copy it is on the stack, as
//! for threads that are about to end.
//!
//! Some read the processor's counter, where it counts evenly, instead of a clock of the system's: of no world's time they know.
//! The copies believe that it does not.
//!
//! Nothing else in them is changed, and where a version reads otherwise it is left alone.

use super::copies;
use super::folder::Locked;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

struct Mend {
    package: &'static str,
    edits: &'static [Edit],
}

struct Edit {
    file: &'static str,
    /// What stands there, and how often.
    old: &'static str,
    times: usize,
    new: &'static str,
}

impl Edit {
    /// One place.
    const fn of(file: &'static str, old: &'static str, new: &'static str) -> Self {
        Self {
            file,
            old,
            times: 1,
            new,
        }
    }
}

/// Of several of one package all are made that fit: some are for versions that read otherwise.
const MENDS: [Mend; 14] = [
    // The generator of a thread lives on there; a draw from the system has the engine take a new thread.
    Mend {
        package: "fastrand",
        edits: &[Edit::of(
            "src/global_rng.rs",
            "thread::current().id().hash(&mut hasher);",
            "{\n        let _ = thread::current();\n        \
             std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0_u8)\n            \
             .hash(&mut hasher);\n    }",
        )],
    },
    // Versions 1.
    Mend {
        package: "fastrand",
        edits: &[Edit::of(
            "src/lib.rs",
            "        Instant::now().hash(&mut hasher);\n        thread::current().id().hash(&mut hasher);\n",
            "        let _ = (Instant::now, thread::current);\n        \
             std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0_u8)\n            \
             .hash(&mut hasher);\n",
        )],
    },
    // `futures::select!`: the branch that is polled first.
    Mend {
        package: "futures-util",
        edits: &[Edit::of(
            "src/async_await/random.rs",
            "fn random() -> u64 {",
            "fn random() -> u64 {\n    \
             return std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0_u8);\n",
        )],
    },
    // `StreamMap`: the stream that is polled first. The seed is a hash by the system's keys already.
    Mend {
        package: "tokio-stream",
        edits: &[Edit::of(
            "src/stream_map.rs",
            "COUNTER.fetch_add(1, Relaxed)",
            "COUNTER.load(Relaxed)",
        )],
    },
    // What waits for its locks is a task, several of which are on one thread. It is fair by a clock that outlives worlds.
    Mend {
        package: "parking_lot_core",
        edits: &[
            Edit::of(
                "src/parking_lot.rs",
                "    let mut thread_data_storage = None;",
                "    return f(&ThreadData::new());\n    let mut thread_data_storage = None;",
            ),
            Edit::of(
                "src/parking_lot.rs",
                "    fn should_timeout(&mut self) -> bool {",
                "    fn should_timeout(&mut self) -> bool {\n        return false;",
            ),
        ],
    },
    // Versions 0.10, which are not fair by a clock.
    Mend {
        package: "parking_lot_core",
        edits: &[Edit::of(
            "src/parking_lot.rs",
            "    let mut thread_data_storage = None;\n    \
             thread_local!(static THREAD_DATA: ThreadData = ThreadData::new());\n    \
             let thread_data = THREAD_DATA\n        .try_with(|thread_data| NonNull::from(thread_data))\n",
            "    return f(&ThreadData::new());\n    let mut thread_data_storage = None;\n    \
             thread_local!(static THREAD_DATA: ThreadData = ThreadData::new());\n    \
             let thread_data = THREAD_DATA\n        .try_with(|thread_data| NonNull::from(thread_data))\n",
        )],
    },
    // Clocks, `governor`'s and those of `metrics` among them.
    Mend {
        package: "quanta",
        edits: &[Edit::of(
            "src/lib.rs",
            "if detection::has_counter_support() {",
            "if false && detection::has_counter_support() {",
        )],
    },
    // Versions below 0.12.
    Mend {
        package: "quanta",
        edits: &[Edit::of(
            "src/lib.rs",
            "if has_tsc_support() {",
            "if false && has_tsc_support() {",
        )],
    },
    Mend {
        package: "minstant",
        edits: &[Edit::of(
            "src/tsc_now.rs",
            "if !is_tsc_stable() {",
            "if true || !is_tsc_stable() {",
        )],
    },
    Mend {
        package: "fastant",
        edits: &[Edit::of(
            "src/tsc_now.rs",
            "if !is_tsc_stable() {",
            "if true || !is_tsc_stable() {",
        )],
    },
    // The servers of tests. This one's pool is a static, whose resources are those of whichever world came first.
    Mend {
        package: "httpmock",
        edits: &[
            Edit::of(
                "src/api/server.rs",
                "    thread::spawn(move || {",
                "    let any = || {\n        let runtime = tokio::runtime::Runtime::new().unwrap();\n        \
                 Box::leak(Box::new(runtime)).handle().clone()\n    };\n    \
                 let runtime = tokio::runtime::Handle::try_current().unwrap_or_else(|_| any());\n    \
                 runtime.spawn_blocking(move || {",
            ),
            Edit::of(
                "src/api/server.rs",
                "        let adapter = LOCAL_SERVER_POOL_REF\n",
                "        let pool = Arc::new(Pool::new(1));\n        let adapter = pool\n",
            ),
            Edit::of("src/api/server.rs", "LOCAL_SERVER_POOL_REF.clone()", "pool"),
        ],
    },
    // Who waits for that does so by a condition variable, in the middle of a poll; later versions park.
    Mend {
        package: "httpmock",
        edits: &[
            Edit::of(
                "src/common/util.rs",
                "struct ThreadWaker(Unparker);",
                "struct ThreadWaker(std::thread::Thread);",
            ),
            Edit::of(
                "src/common/util.rs",
                "ThreadWaker(parker.unparker().clone())",
                "ThreadWaker(std::thread::current())",
            ),
            Edit::of("src/common/util.rs", "parker.park()", "std::thread::park()"),
        ],
    },
    // Where the server is waited for, the channel of the standard library tells waiters by their threads.
    Mend {
        package: "mockito",
        edits: &[
            Edit {
                file: "src/server.rs",
                old: "        thread::spawn(move || {",
                times: 2,
                // Of the server's runtime: there may be no other, or one that ends before.
                new: "        runtime.handle().clone().spawn_blocking(move || {",
            },
            Edit {
                file: "src/server.rs",
                old: "address_receiver\n            .recv()\n",
                times: 2,
                new: "std::iter::repeat_with(|| address_receiver.try_recv())\n            \
                      .inspect(|_| std::thread::yield_now())\n            \
                      .find(|said| *said != Err(mpsc::TryRecvError::Empty)).unwrap()\n",
            },
            Edit::of(
                "src/server_pool.rs",
                "let permit = self\n            .semaphore\n",
                "let permit = Box::leak(Box::new(Semaphore::new(1)))\n",
            ),
            Edit::of(
                "src/server_pool.rs",
                "self.free_list.lock().unwrap().push_back(server);",
                "drop(server);",
            ),
        ],
    },
    // Its listener is the world's before anybody connects.
    Mend {
        package: "wiremock",
        edits: &[
            Edit::of(
                "src/mock_server/bare_server.rs",
                "        std::thread::spawn(move || {",
                "        listener.set_nonblocking(true).expect(\"Cannot set non-blocking mode\");\n        \
                 let listener = tokio::net::TcpListener::from_std(listener).expect(\"Cannot upgrade\");\n        \
                 tokio::task::spawn_blocking(move || {",
            ),
            Edit::of(
                "src/mock_server/hyper.rs",
                "    listener\n        .set_nonblocking(true)\n        \
                 .expect(\"Cannot set non-blocking mode on TcpListener\");\n    \
                 let listener = TcpListener::from_std(listener).expect(\"Cannot upgrade TcpListener\");\n",
                "",
            ),
            Edit::of(
                "src/mock_server/hyper.rs",
                "    listener: std::net::TcpListener,",
                "    listener: TcpListener,",
            ),
            Edit::of(
                "src/mock_server/pool.rs",
                "    MOCK_SERVER_POOL\n",
                "    Pool::builder(MockServerPoolManager)\n        .build()\n        .expect(\"a pool\")\n",
            ),
        ],
    },
];

/// Whether there is a mend for the package, as it is in cargo's cache.
pub(super) fn fits(locked: &Locked) -> bool {
    texts(locked).is_some()
}

/// The names of all packages that have one.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    MENDS.iter().map(|mend| mend.package)
}

/// A copy with the mend.
pub(super) fn copy(locked: &Locked, to: &Path) -> Result<()> {
    copies::package(&locked.folder, to, |_| ())?;
    let texts = texts(locked).context("a package without a mend, or one that reads otherwise")?;
    for (file, text) in texts {
        let path = to.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(())
}

/// Of all mends, so that copies are made again where one is another.
pub(super) fn digest() -> u64 {
    let mut digest = DefaultHasher::new();
    for mend in &MENDS {
        for edit in mend.edits {
            (mend.package, edit.file, edit.old, edit.new).hash(&mut digest);
        }
    }
    digest.finish()
}

/// The files with the mends that fit, if any does.
fn texts(locked: &Locked) -> Option<BTreeMap<&'static str, String>> {
    let mut texts = BTreeMap::new();
    for mend in MENDS.iter().filter(|mend| mend.package == locked.name) {
        texts.extend(mended(mend, &locked.folder, &texts).unwrap_or_default());
    }
    (!texts.is_empty()).then_some(texts)
}

/// The files with the mend as well; `None` where one has not what is replaced, as often as it should.
fn mended(
    mend: &Mend,
    folder: &Path,
    before: &BTreeMap<&'static str, String>,
) -> Option<BTreeMap<&'static str, String>> {
    let mut texts = BTreeMap::new();
    for edit in mend.edits {
        let text = match texts
            .remove(edit.file)
            .or_else(|| before.get(edit.file).cloned())
        {
            Some(text) => text,
            None => fs::read_to_string(folder.join(edit.file)).ok()?,
        };
        if text.matches(edit.old).count() != edit.times {
            return None;
        }
        texts.insert(edit.file, text.replace(edit.old, edit.new));
    }
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mend_of_several_places_is_made_in_all_of_them_or_in_none() {
        const MEND: Mend = Mend {
            package: "server",
            edits: &[
                Edit {
                    file: "lib.rs",
                    old: "thread::spawn",
                    times: 2,
                    new: "task::spawn_blocking",
                },
                Edit::of("lib.rs", "push(server)", "drop(server)"),
                Edit::of("pool.rs", "STATIC", "new()"),
            ],
        };
        let folder = std::env::temp_dir().join(format!("cargo-cct-places-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let write = |file: &str, text: &str| fs::write(folder.join(file), text).expect("a file");
        write("lib.rs", "thread::spawn(a); thread::spawn(b); push(server)");
        assert_eq!(mended(&MEND, &folder, &BTreeMap::new()), None);
        write("pool.rs", "STATIC.get()");
        let mut texts = mended(&MEND, &folder, &BTreeMap::new())
            .expect("one to mend")
            .into_iter();
        let right = "task::spawn_blocking(a); task::spawn_blocking(b); drop(server)";
        assert_eq!(texts.next(), Some(("lib.rs", right.to_owned())));
        assert_eq!(texts.next(), Some(("pool.rs", "new().get()".to_owned())));
        write("lib.rs", "thread::spawn(a); push(server)");
        assert_eq!(mended(&MEND, &folder, &BTreeMap::new()), None);
        fs::remove_dir_all(&folder).expect("the end");
    }

    #[test]
    fn only_what_reads_as_it_should_is_mended() {
        let folder = std::env::temp_dir().join(format!("cargo-cct-mends-{}", std::process::id()));
        let mend = MENDS.iter().find(|mend| mend.package == "tokio-stream");
        let mend = mend.expect("a mend");
        let file = mend.edits[0].file;
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");

        let text = "RandomState::new().hash_one(COUNTER.fetch_add(1, Relaxed))\n";
        fs::write(&path, text).expect("a file");
        let texts = mended(mend, &folder, &BTreeMap::new()).expect("one to mend");
        let right = "RandomState::new().hash_one(COUNTER.load(Relaxed))\n";
        assert_eq!(texts, BTreeMap::from([(file, right.to_owned())]));

        for other in [
            "RandomState::new().hash_one(0)\n".to_owned(),
            text.repeat(2),
        ] {
            fs::write(&path, other).expect("a file");
            assert_eq!(mended(mend, &folder, &BTreeMap::new()), None);
        }
        fs::remove_dir_all(&folder).expect("the end");
    }
}
