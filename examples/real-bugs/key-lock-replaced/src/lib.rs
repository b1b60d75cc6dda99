//! Accounts that take one deposit at a time, each under the lock of its name.
//!
//! Locks of names that nobody holds are cleared away now and then, so that they do not pile up.
//!
//! The bug, in key-lock 0.1.0, the newest version: a lock that somebody has looked up and not taken yet
//! counts as free, and is cleared away. Whoever comes next gets a new one for the same name, and two hold
//! it at once: a deposit is lost. (Every thousandth call of `lock` clears away, too.) Found by a test like
//! this one, and not reported that we know of. The `control` package never clears away.

use cct_executor::spawn;
use cct_sync::Mutex;
use key_lock::KeyLock;
use std::sync::Arc;

#[derive(Default)]
struct Bank {
    names: KeyLock<&'static str>,
    /// What Ada has, in a store that is asked and told.
    stored: Mutex<u64>,
}

impl Bank {
    async fn deposit(&self, amount: u64) {
        let _guard = self.names.lock("Ada").await;
        let before = *self.stored.lock().await;
        *self.stored.lock().await = before + amount;
    }

    async fn tidy(&self) {
        if !cfg!(feature = "control") {
            self.names.clean().await;
        }
    }
}

/// Three clients pay in, clear away what is free, and pay in again; nothing is lost.
pub async fn scenario() {
    let bank = Arc::new(Bank::default());
    let clients = [1, 10, 100].map(|amount| {
        let bank = bank.clone();
        spawn(async move {
            bank.deposit(amount).await;
            bank.tidy().await;
            bank.deposit(amount).await;
        })
    });
    for client in clients {
        client.await.expect("a client does not panic");
    }
    assert_eq!(*bank.stored.lock().await, 222);
}
