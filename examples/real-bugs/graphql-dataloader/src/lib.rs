//! Requests for users that share one data loader, so that a database is asked once for all.
//!
//! The first request waits for a moment, in case there are more, and then loads what all have asked for.
//! One client is impatient, and the server drops its request.
//!
//! The bug, in async-graphql 3.0.11: it is the future of the first request that waits and loads. If that
//! one is dropped, nobody loads, and all others panic
//! (<https://github.com/async-graphql/async-graphql/issues/555>). From 3.0.12 on a task of its own does it.

use async_graphql::dataloader::{DataLoader, Loader};
use cct_executor::spawn;
use cct_executor::time::{sleep, timeout};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

const REQUESTS: u32 = 4;
const QUERY: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_millis(3);

/// Stands for a database.
struct Users;

#[async_trait::async_trait]
impl Loader<u32> for Users {
    type Value = String;
    type Error = Arc<String>;

    async fn load(&self, keys: &[u32]) -> Result<HashMap<u32, String>, Self::Error> {
        sleep(QUERY).await;
        Ok(keys.iter().map(|&key| (key, name(key))).collect())
    }
}

fn name(user: u32) -> String {
    format!("user {user}")
}

#[cfg(feature = "fixed")]
fn loader() -> DataLoader<Users> {
    DataLoader::new(Users, spawn)
}

#[cfg(not(feature = "fixed"))]
fn loader() -> DataLoader<Users> {
    DataLoader::new(Users)
}

/// A client that goes away does no harm to the others.
pub async fn scenario() {
    let loader = Arc::new(loader());
    let requests: Vec<_> = (0..REQUESTS)
        .map(|user| {
            let loader = Arc::clone(&loader);
            spawn(async move {
                let load = loader.load_one(user);
                if user + 1 == REQUESTS {
                    let _ = timeout(PATIENCE, load).await;
                } else {
                    assert_eq!(load.await.expect("the database is up"), Some(name(user)));
                }
            })
        })
        .collect();
    for request in requests {
        request.await.expect("a request does not panic");
    }
}
