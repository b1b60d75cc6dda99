//! Files with names that no two runs of a program have, left behind.

#![expect(clippy::disallowed_types, reason = "it is what such tests have")]

use super::rt;
use std::fmt::Display;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

async fn make(name: impl Display) {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("left-{name}"));
    fs::File::create_new(file).unwrap();
    rt::task::yield_now().await;
}

pub(crate) async fn by_the_time() {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    make(since.as_nanos()).await;
}

pub(crate) async fn at_random() {
    make(RandomState::new().hash_one("")).await;
}
