//! What a crash may leave, enumerated, against the rules worked out by other means: whole images of
//! the file after each small step, and all subsets of changes of names.

use super::{all_seen, checker};
use cct_executor::node::node;
use cct_executor::time::sleep;
use cct_executor::{Granularity, sometimes};
use cct_net::fs::{self, Inspected, inspect};
use std::collections::{BTreeMap, BTreeSet};
use std::io::SeekFrom;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECTOR: usize = 512;

/// A disk, directories and `/tmp` left out.
type Files = BTreeMap<PathBuf, Vec<u8>>;

#[derive(Clone, Copy, Debug)]
enum Data {
    Write { at: usize, count: usize, with: u8 },
    SetLen(usize),
    Sync,
    Fdatasync,
}

#[derive(Clone, Copy, Debug)]
enum Names {
    Make(&'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Link(&'static str, &'static str),
    Sync(&'static str),
}

/// Runs something on a node, crashes it, and collects everything that is ever left.
fn leftovers<F, Fut>(name: &str, run: F) -> BTreeSet<Files>
where
    F: Fn() -> Fut + Send + Sync + Clone + 'static,
    Fut: Future<Output = std::io::Result<()>> + Send + 'static,
{
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let found = all.clone();
    let report = checker(name)
        .strategy_text("exhaustive")
        .granularity(Granularity::Await)
        .workers(1)
        .iterations(400_000)
        .run(move || {
            let (run, found) = (run.clone(), found.clone());
            async move {
                let db = node("db").start(move || {
                    let done = run();
                    async move {
                        done.await?;
                        std::future::pending::<std::io::Result<()>>().await
                    }
                });
                sleep(Duration::from_secs(1)).await;
                db.crash();
                let left = inspect(db.id()).into_iter();
                let files = left.filter_map(|(path, what)| match what {
                    Inspected::File(bytes) => Some((path, bytes)),
                    _ => None,
                });
                found.lock().unwrap().insert(files.collect());
            }
        });
    report.assert_passed();
    assert!(
        report.coverage.all_schedules.is_some(),
        "{name}: not all was enumerated"
    );
    Arc::try_unwrap(all).unwrap().into_inner().unwrap()
}

/// All that may be left of a file, by whole images of it.
fn expected_data(script: &[Data]) -> BTreeSet<Vec<u8>> {
    let mut images: Vec<Vec<u8>> = vec![Vec::new()];
    for step in script {
        let mut image = images.last().unwrap().clone();
        match *step {
            Data::Write { at, count, with } => {
                for byte in at..at + count {
                    if image.len() <= byte {
                        image.resize(byte + 1, 0);
                    }
                    image[byte] = with;
                    if byte % SECTOR == SECTOR - 1 || byte + 1 == at + count {
                        images.push(image.clone());
                    }
                }
            }
            Data::SetLen(size) => {
                image.resize(size, 0);
                images.push(image);
            }
            Data::Sync | Data::Fdatasync => images = vec![image],
        }
    }
    let sizes: BTreeSet<usize> = images.iter().map(Vec::len).collect();
    let sectors = sizes.last().unwrap().div_ceil(SECTOR);
    for image in &mut images {
        image.resize(sectors * SECTOR, 0);
    }
    let mut states: BTreeSet<Vec<u8>> = BTreeSet::from([Vec::new()]);
    for sector in 0..sectors {
        let range = sector * SECTOR..(sector + 1) * SECTOR;
        let versions: BTreeSet<&[u8]> = images.iter().map(|image| &image[range.clone()]).collect();
        let longer = states.iter().flat_map(|state| {
            versions
                .iter()
                .map(move |version| [state, *version].concat())
        });
        states = longer.collect();
    }
    let cut = states
        .iter()
        .flat_map(|state| sizes.iter().map(move |&size| state[..size].to_vec()));
    cut.collect()
}

async fn run_data(script: Arc<[Data]>) -> std::io::Result<()> {
    let mut file = fs::File::create("/f").await?;
    fs::File::open("/").await?.sync_all().await?;
    for step in script.iter() {
        match *step {
            Data::Write { at, count, with } => {
                file.seek(SeekFrom::Start(at as u64)).await?;
                file.write_all(&vec![with; count]).await?;
                file.flush().await?;
            }
            Data::SetLen(size) => file.set_len(size as u64).await?,
            Data::Sync => file.sync_all().await?,
            Data::Fdatasync => file.sync_data().await?,
        }
    }
    Ok(())
}

fn check_data(name: &str, script: &[Data], states: usize) {
    let shared: Arc<[Data]> = script.into();
    let found = leftovers(name, move || run_data(shared.clone()));
    let file = PathBuf::from("/f");
    let found: BTreeSet<Vec<u8>> = found.iter().map(|files| files[&file].clone()).collect();
    let expected = expected_data(script);
    let sizes = |states: &BTreeSet<Vec<u8>>| states.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(&found), sizes(&expected), "{name}");
    assert!(found == expected, "{name}");
    assert_eq!(found.len(), states, "{name}: counted by hand");
}

const fn write(at: usize, count: usize, with: u8) -> Data {
    Data::Write { at, count, with }
}

#[test]
fn what_is_left_of_data() {
    // Nothing, or zeros, or the bytes.
    check_data("one write", &[write(0, 10, 1)], 3);
    check_data("synced", &[write(0, 10, 1), Data::Sync], 1);
    check_data("synced data", &[write(0, 700, 1), Data::Fdatasync], 1);
    // Each of two sectors old or new.
    const IN_PLACE: &[Data] = &[write(0, 1024, 1), Data::Sync, write(100, 900, 2)];
    check_data("in place", IN_PLACE, 4);
    // One sector, three versions, in order only.
    const TWICE: &[Data] = &[
        write(0, 512, 1),
        Data::Sync,
        write(0, 9, 2),
        write(99, 9, 3),
    ];
    check_data("twice", TWICE, 3);
    // Sizes 0, 512 and 1000; at 512 one sector may be there, at 1000 two.
    check_data("append", &[write(0, 1000, 1)], 1 + 2 + 4);
    const CUT: &[Data] = &[write(0, 1000, 1), Data::Sync, Data::SetLen(100)];
    // At 100 always the same; at 1000 either sector may be zeroed already.
    check_data("cut", CUT, 1 + 4);
    const REWRITE: &[Data] = &[
        write(0, 600, 1),
        Data::Fdatasync,
        Data::SetLen(0),
        write(0, 600, 2),
    ];
    // At 600 three versions of either sector, at 512 three, at 0 one.
    check_data("rewrite", REWRITE, 9 + 3 + 1);
    const GAP: &[Data] = &[write(1024, 10, 1), Data::SetLen(2000)];
    check_data("gap", GAP, 1 + 2 + 2);
    const LATER: &[Data] = &[
        write(0, 10, 1),
        Data::Sync,
        write(600, 10, 2),
        write(0, 2, 3),
    ];
    check_data("after a flush", LATER, 2 + 4);
}

/// The directory of a path.
fn directory(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

fn paths(change: Names) -> Vec<&'static str> {
    match change {
        Names::Make(path) | Names::Remove(path) => vec![path],
        Names::Link(_, path) => vec![path],
        Names::Rename(from, to) => vec![from, to],
        Names::Sync(_) => vec![],
    }
}

/// Whether a set of changes contains all that its members need.
fn is_closed(script: &[Names], chosen: &[bool]) -> bool {
    (0..script.len()).filter(|&i| chosen[i]).all(|i| {
        (0..i).all(|j| {
            let (later, earlier) = (paths(script[i]), paths(script[j]));
            chosen[j] || !later.iter().any(|path| earlier.contains(path))
        })
    })
}

/// What flushes of directories demand: the least closed set of changes that contains theirs.
fn demanded(script: &[Names]) -> Vec<bool> {
    let mut demanded = vec![false; script.len()];
    for (i, step) in script.iter().enumerate() {
        if let Names::Sync(flushed) = step {
            for j in 0..i {
                let own = |path: &&str| directory(path) == *flushed;
                demanded[j] |= paths(script[j]).iter().any(own);
            }
        }
    }
    while !is_closed(script, &demanded) {
        for i in (0..script.len()).rev() {
            for j in 0..i {
                let earlier = paths(script[j]);
                let shared = paths(script[i]).iter().any(|path| earlier.contains(path));
                demanded[j] |= demanded[i] && shared;
            }
        }
    }
    demanded
}

/// Files by name. The contents of each say which step made it.
fn expected_names(script: &[Names]) -> BTreeSet<Files> {
    let demanded = demanded(script);
    let mut numbers = BTreeMap::new();
    let mut labels = vec![None; script.len()];
    for (i, step) in script.iter().enumerate() {
        match *step {
            Names::Make(path) => drop(numbers.insert(path, i as u8 + 1)),
            Names::Rename(from, to) => {
                let moved = numbers.remove(from).unwrap();
                numbers.insert(to, moved);
            }
            Names::Link(from, to) => drop(numbers.insert(to, numbers[from])),
            Names::Remove(path) => drop(numbers.remove(path)),
            Names::Sync(_) => {}
        }
        labels[i] = paths(*step)
            .last()
            .and_then(|path| numbers.get(path).copied());
    }
    let mut states = BTreeSet::new();
    for bits in 0..1_u32 << script.len() {
        let chosen: Vec<bool> = (0..script.len()).map(|i| bits >> i & 1 == 1).collect();
        let enough = demanded.iter().zip(&chosen).all(|(&must, &is)| is || !must);
        if !enough || !is_closed(script, &chosen) {
            continue;
        }
        let mut files = Files::new();
        for i in (0..script.len()).filter(|&i| chosen[i]) {
            let touched = paths(script[i]);
            for path in &touched {
                files.remove(&PathBuf::from(path));
            }
            if let (Some(path), Some(label)) = (touched.last(), labels[i]) {
                files.insert(PathBuf::from(path), vec![label]);
            }
        }
        states.insert(files);
    }
    states
}

async fn run_names(script: Arc<[Names]>) -> std::io::Result<()> {
    for name in ["/a", "/b"] {
        fs::create_dir(name).await?;
    }
    fs::File::open("/").await?.sync_all().await?;
    for (i, step) in script.iter().enumerate() {
        match *step {
            Names::Make(path) => {
                let label = i as u8 + 1;
                let mut file = fs::File::create(path).await?;
                file.write_all(&[label]).await?;
                file.sync_all().await?;
            }
            Names::Remove(path) => {
                fs::remove_file(path).await?;
            }
            Names::Rename(from, to) => {
                fs::rename(from, to).await?;
            }
            Names::Link(from, to) => {
                fs::hard_link(from, to).await?;
            }
            Names::Sync(path) => fs::File::open(path).await?.sync_all().await?,
        }
    }
    Ok(())
}

fn check_names(name: &str, script: &[Names], states: usize) {
    let shared: Arc<[Names]> = script.into();
    let found = leftovers(name, move || run_names(shared.clone()));
    let expected = expected_names(script);
    assert_eq!(found, expected, "{name}");
    assert_eq!(found.len(), states, "{name}: counted by hand");
}

#[test]
fn what_is_left_of_names() {
    use Names::{Link, Make, Remove, Rename, Sync};
    check_names("made", &[Make("/a/x")], 2);
    check_names("made and flushed", &[Make("/a/x"), Sync("/a")], 1);
    check_names("wrong directory", &[Make("/a/x"), Sync("/")], 2);
    check_names("two", &[Make("/a/x"), Make("/a/y")], 4);
    check_names("removed", &[Make("/a/x"), Sync("/a"), Remove("/a/x")], 2);
    const REPLACE: &[Names] = &[
        Make("/a/x"),
        Sync("/a"),
        Make("/a/new"),
        Rename("/a/new", "/a/x"),
    ];
    // The old one, with or without the new one beside it, or the new one in its place.
    check_names("replace", REPLACE, 3);
    const ACROSS: &[Names] = &[Make("/a/x"), Rename("/a/x", "/b/x")];
    check_names("across", ACROSS, 3);
    const ACROSS_FROM: &[Names] = &[Make("/a/x"), Rename("/a/x", "/b/x"), Sync("/a")];
    check_names("across, source flushed", ACROSS_FROM, 1);
    const ACROSS_TO: &[Names] = &[
        Make("/a/y"),
        Make("/a/x"),
        Rename("/a/x", "/b/x"),
        Sync("/b"),
    ];
    check_names("across, target flushed", ACROSS_TO, 2);
    const AGAIN: &[Names] = &[
        Make("/a/x"),
        Remove("/a/x"),
        Make("/a/x"),
        Link("/a/x", "/b/l"),
    ];
    // Nothing, the first or the second file; with the link, or without.
    check_names("again", AGAIN, 6);
    const BUSY: &[Names] = &[
        Make("/a/x"),
        Make("/b/y"),
        Sync("/b"),
        Rename("/b/y", "/a/y"),
        Rename("/a/x", "/a/z"),
        Make("/b/y"),
        Remove("/a/y"),
    ];
    let found = expected_names(BUSY).len();
    check_names("busy", BUSY, found);
}

/// Two directories that are moved into each other, one after the other: neither may vanish.
#[test]
fn moved_directories_are_never_inside_themselves() {
    let found = leftovers("moves", || async {
        for name in ["/a", "/b"] {
            fs::create_dir(name).await?;
            fs::write(format!("{name}/in{}", &name[1..]), name).await?;
            let file = fs::File::open(format!("{name}/in{}", &name[1..])).await?;
            file.sync_all().await?;
            fs::File::open(name).await?.sync_all().await?;
        }
        fs::File::open("/").await?.sync_all().await?;
        fs::rename("/b", "/a/b").await?;
        fs::rename("/a/b", "/b").await?;
        fs::rename("/a", "/b/a").await
    });
    for files in &found {
        let names: Vec<_> = files.keys().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names.len(), 2, "{files:?}");
    }
    // After the second move all is as it was before the first.
    assert_eq!(found.len(), 3, "{found:?}");
}

/// A symbolic link is there after a crash or it is not, and it leads where it led.
#[test]
fn symbolic_links_survive_as_names_do() {
    for synced in [false, true] {
        let report = checker("symlinks").iterations(200).run(move || async move {
            let disk = node("disk").start(move || async move {
                fs::symlink("/tmp", "/link").await?;
                if synced {
                    fs::File::open("/").await?.sync_all().await?;
                }
                std::io::Result::Ok(())
            });
            sleep(Duration::from_secs(1)).await;
            disk.crash();
            let found = inspect(disk.id());
            let link = found.get(Path::new("/link"));
            sometimes!(link.is_none() || synced, "it is gone");
            sometimes!(link.is_some(), "it is there");
            assert!(link.is_some() || !synced);
            assert!(link.is_none_or(|link| *link == Inspected::Symlink("/tmp".into())));
        });
        report.assert_passed();
        all_seen(&report);
    }
}
