//! Random scripts of changes of a disk.

use super::model::Model;
use cct_net::fs::{self, File, OpenOptions};
use std::io::{Result, SeekFrom};

/// Paths of files, of directories, and where either may be.
const FILES: [&str; 5] = ["/x", "/y", "/d/x", "/d/y", "/e/x"];
const DIRECTORIES: [&str; 4] = ["/d", "/e", "/d/e", "/e/d"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Make(&'static str),
    Mkdir(&'static str),
    Symlink(&'static str),
    /// From a byte on, so many, of this kind.
    Write(&'static str, usize, usize, u8),
    SetLen(&'static str, usize),
    Link(&'static str, &'static str),
    Rename(&'static str, &'static str),
    Remove(&'static str),
    Sync(&'static str),
    SyncData(&'static str),
    SyncNames(&'static str),
}

/// What most scripts begin with; all of it is durable.
pub(super) const BEGINNING: [Step; 6] = [
    Step::Mkdir("/d"),
    Step::Mkdir("/e"),
    Step::Make("/x"),
    Step::Write("/x", 0, 600, 200),
    Step::Sync("/x"),
    Step::SyncNames(""),
];

/// Numbers that follow from a seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % sides as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// So many steps, each of which does something. Without hard links where it must be plain which file is
/// which.
pub(super) fn random(dice: &mut Dice, mut model: Model, count: usize, links: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    while steps.len() < count {
        let step = random_step(dice, steps.len() as u8 + 1);
        if matches!(step, Step::Link(..)) && !links {
            continue;
        }
        if model.apply(&step).is_some() {
            steps.push(step);
        }
    }
    steps
}

fn random_step(dice: &mut Dice, number: u8) -> Step {
    let (file, other) = (dice.pick(&FILES), dice.pick(&FILES));
    let (directory, elsewhere) = (dice.pick(&DIRECTORIES), dice.pick(&DIRECTORIES));
    let place = dice.pick(&[0, 100, 500, 512, 700]);
    match dice.below(18) {
        0 | 1 => Step::Make(file),
        2 => Step::Mkdir(directory),
        3 => Step::Symlink(file),
        4..9 => Step::Write(file, place, dice.pick(&[1, 10, 300]), number),
        9 => Step::SetLen(file, place),
        10 => Step::Link(file, other),
        11 => Step::Rename(file, other),
        12 | 13 => Step::Rename(directory, elsewhere),
        14 => Step::Remove(dice.pick(&[file, directory])),
        15 => Step::Sync(file),
        16 => Step::SyncData(file),
        _ => Step::SyncNames(dice.pick(&["", directory])),
    }
}

/// Does a step on the disk of this node.
pub(super) async fn perform(step: Step) -> Result<()> {
    match step {
        Step::Make(path) => File::create_new(path).await.map(drop),
        Step::Mkdir(path) => fs::create_dir(path).await,
        Step::Symlink(path) => fs::symlink("/nowhere", path).await,
        Step::Write(path, at, count, with) => {
            let mut file = OpenOptions::new().write(true).open(path).await?;
            file.seek(SeekFrom::Start(at as u64)).await?;
            file.write_all(&vec![with; count]).await?;
            file.flush().await
        }
        Step::SetLen(path, len) => {
            let file = OpenOptions::new().write(true).open(path).await?;
            file.set_len(len as u64).await
        }
        Step::Link(from, to) => fs::hard_link(from, to).await,
        Step::Rename(from, to) => fs::rename(from, to).await,
        Step::Remove(path) if DIRECTORIES.contains(&path) => fs::remove_dir(path).await,
        Step::Remove(path) => fs::remove_file(path).await,
        Step::Sync(path) => File::open(path).await?.sync_all().await,
        Step::SyncData(path) => File::open(path).await?.sync_data().await,
        Step::SyncNames("") => File::open("/").await?.sync_all().await,
        Step::SyncNames(path) => File::open(path).await?.sync_all().await,
    }
}
