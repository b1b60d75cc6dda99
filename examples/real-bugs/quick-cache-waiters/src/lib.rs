//! Settings that are read through a cache, and replaced while they are loaded.
//!
//! Tasks read a setting; the first one loads it, and the others wait for what it loads. Meanwhile the
//! setting is changed, and its new value is put into the cache.
//!
//! The bug, in quick_cache 0.6.1 and before: if a value is put in while another is being loaded, the
//! loader still wakes those who wait, but marks the load as given up. A waiter that is polled after
//! that meets a state that cannot be, and panics; its destructor meets it once more, which aborts the
//! process. Fixed in 0.6.2 by <https://github.com/arthurprs/quick-cache/pull/40>.

use cct_executor::{spawn, task::yield_now};
use quick_cache::sync::Cache;
use std::convert::Infallible;
use std::sync::Arc;

type Settings = Cache<String, u32>;

const SETTING: &str = "retries";

/// Stands for reading the file.
async fn load() -> Result<u32, Infallible> {
    yield_now().await;
    Ok(3)
}

async fn read(settings: Arc<Settings>) -> u32 {
    let read = settings.get_or_insert_async(SETTING, load());
    let Ok(value) = read.await;
    value
}

/// Stands for writing the file.
async fn change(settings: Arc<Settings>) {
    yield_now().await;
    settings.insert(SETTING.to_owned(), 5);
}

/// Whoever reads gets the old value or the new one.
pub async fn scenario() {
    let settings = Arc::new(Settings::new(16));
    let readers: Vec<_> = (0..3).map(|_| spawn(read(settings.clone()))).collect();
    let writer = spawn(change(settings.clone()));
    for reader in readers {
        let value = reader.await.expect("a reader does not panic");
        assert!(value == 3 || value == 5, "nobody wrote {value}");
    }
    writer.await.expect("the writer does not panic");
}
