//! Which times change when, and which do not, and those that a program chooses.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from files"
)]

use super::super::rt::*;
use super::told;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Which of the times of these files are later than before.
#[allow(dead_code, reason = "for `file_times` alone")]
async fn later(paths: &[&Path], before: &mut Vec<[SystemTime; 3]>) -> io::Result<String> {
    let mut changed = String::new();
    for (i, path) in paths.iter().enumerate() {
        let Ok(metadata) = fs::symlink_metadata(path).await else {
            changed += "- ";
            continue;
        };
        let now = [
            metadata.modified()?,
            metadata.accessed()?,
            metadata.created()?,
        ];
        if let Some(old) = before.get_mut(i) {
            for (name, (now, old)) in ["m", "a", "c"].iter().zip(now.iter().zip(old.iter())) {
                if now > old {
                    changed += name;
                } else if now < old {
                    changed += &name.to_uppercase();
                }
            }
            *old = now;
        } else {
            before.push(now);
        }
        changed += " ";
    }
    Ok(changed)
}

/// Each step is later than the one before. That is the business of disks whose clock is the one that
/// programs sleep by.
#[allow(dead_code, reason = "not every disk is of that kind")]
pub(crate) async fn file_times(root: std::path::PathBuf, log: &mut Vec<String>) {
    let at = |name: &str| root.join(name);
    let (f, d, link) = (at("f"), at("d"), at("link"));
    fs::write(&f, "x").await.unwrap();
    fs::create_dir(&d).await.unwrap();
    fs::symlink("f", &link).await.unwrap();
    let paths = [root.as_path(), &f, &d];
    let mut before = Vec::new();
    later(&paths, &mut before).await.unwrap();
    macro_rules! step {
        ($($what:expr),+) => {
            // Longer than a tick of the kernel.
            time::sleep(Duration::from_millis(25)).await;
            note!(log, $($what),+);
            note!(log, later(&paths, &mut before).await);
        };
    }
    step!(fs::metadata(&f).await.map(|_| ()));
    step!(fs::write(&f, "").await);
    step!(fs::write(&f, "hello").await);
    step!(fs::read(&f).await);
    step!(fs::read(&f).await);
    step!(fs::read(&link).await);
    let mut options = fs::OpenOptions::new();
    let mut file = options.read(true).write(true).open(&f).await.unwrap();
    step!(file.write_all(b"").await, file.flush().await);
    step!(file.write_all(b"H").await, file.flush().await);
    step!(file.read(&mut []).await);
    step!(file.read(&mut [0; 2]).await);
    step!(file.read(&mut [0; 2]).await);
    step!(file.set_len(5).await);
    step!(file.set_len(2).await);
    // At its end.
    step!(file.read(&mut [0; 2]).await);
    step!(
        file.set_permissions(file.metadata().await.unwrap().permissions())
            .await
    );
    step!(
        file.seek(io::SeekFrom::Start(0)).await,
        file.read(&mut [0; 2]).await
    );
    step!(file.sync_all().await);
    step!(fs::write(d.join("new"), "x").await);
    step!(fs::write(d.join("new"), "y").await);
    step!(fs::read_dir(&d).await.map(|_| ()));
    step!(fs::rename(d.join("new"), at("moved")).await);
    step!(fs::hard_link(&f, d.join("again")).await);
    step!(fs::read(&f).await);
    step!(fs::remove_file(d.join("again")).await);
    step!(fs::read(&f).await);
    step!(fs::rename(&f, at("g")).await, fs::rename(at("g"), &f).await);
    step!(fs::create_dir(d.join("sub")).await);
    step!(fs::remove_dir(d.join("sub")).await);
    step!(fs::copy(at("moved"), &f).await);
}

pub(crate) async fn chosen_times(root: std::path::PathBuf, log: &mut Vec<String>) {
    let (f, d) = (root.join("f"), root.join("d"));
    let mut file = fs::File::create(&f).await.unwrap();
    fs::create_dir(&d).await.unwrap();
    let paths = [f.as_path(), &d];
    let day = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400);
    let hour = SystemTime::UNIX_EPOCH + Duration::new(3600, 5);
    macro_rules! step {
        ($what:expr) => {
            note!(log, $what);
            for path in &paths {
                note!(
                    log,
                    fs::metadata(path).await.and_then(|m| chosen(m.modified()?))
                );
                note!(
                    log,
                    fs::metadata(path).await.and_then(|m| chosen(m.accessed()?))
                );
            }
        };
    }
    step!(file.set_modified(day).await);
    let times = fs::FileTimes::new().set_accessed(hour).set_modified(day);
    step!(fs::File::open(&f).await.unwrap().set_times(times).await);
    step!(file.set_times(fs::FileTimes::new()).await);
    let before_all = SystemTime::UNIX_EPOCH - Duration::from_secs(5);
    step!(
        fs::File::open(&d)
            .await
            .unwrap()
            .set_modified(before_all)
            .await
    );
    // What is written is changed now, whatever was chosen.
    step!(file.write_all(b"x").await.and(file.flush().await));
}

/// A date that this program chose, or none.
fn chosen(time: SystemTime) -> io::Result<Option<SystemTime>> {
    let last = SystemTime::UNIX_EPOCH + Duration::from_secs(100_000);
    Ok((time < last).then_some(time))
}
