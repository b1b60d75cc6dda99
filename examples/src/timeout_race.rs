//! A time limit that expires although the work is done.
//!
//! A client charges a card and gives the answer 100 ms to come. When the limit expires it charges
//! again. The server answers after 90 ms, so with an exact clock the limit never expires, and tests
//! with tokio's paused clock pass for ever. On a loaded machine timers are late by more than 10 ms,
//! the limit expires first, and the card is charged twice.
//!
//! Under the clock policy `strict` cct never shows an order of timers that an exact clock could
//! not. `racing(20ms)` says: timers may be late relative to each other by so much. Which one fires
//! first is then a choice of the search.

use cct_executor::spawn;
use cct_executor::time::{Duration, sleep, timeout};
use cct_sync::{mpsc, oneshot};
use std::collections::BTreeSet;

/// A charge and where its receipt goes.
struct Charge {
    /// Names the purchase, the same for every attempt.
    key: u32,
    receipt: oneshot::Sender<()>,
}

/// Charges and answers. Returns how often the card was charged.
async fn serve(mut charges: mpsc::Receiver<Charge>, skip_known_keys: bool) -> u32 {
    let (mut charged, mut known) = (0, BTreeSet::new());
    while let Some(Charge { key, receipt }) = charges.recv().await {
        if known.insert(key) || !skip_known_keys {
            charged += 1;
        }
        spawn(async move {
            sleep(Duration::from_millis(90)).await;
            // The client may have stopped waiting.
            let _ = receipt.send(());
        });
    }
    charged
}

async fn buy(charges: mpsc::Sender<Charge>) {
    for _attempt in 0..3 {
        let (receipt, answer) = oneshot::channel();
        charges
            .send(Charge { key: 1, receipt })
            .await
            .expect("the server is gone");
        if timeout(Duration::from_millis(100), answer).await.is_ok() {
            return;
        }
    }
}

async fn purchase(skip_known_keys: bool) {
    let (charges, queue) = mpsc::channel(4);
    let server = spawn(serve(queue, skip_known_keys));
    buy(charges).await;
    assert_eq!(server.await.unwrap(), 1, "times that the card was charged");
}

/// The program with the bug.
pub async fn a_card_is_charged_once() {
    purchase(false).await;
}

/// The repaired program: the server knows a purchase again by its key.
pub async fn a_known_purchase_is_not_charged_again() {
    purchase(true).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::{Checker, Clock};

    fn racing() -> Checker {
        Checker::new()
            .clock(Clock::Racing(Duration::from_millis(20)))
            .use_environment(false)
    }

    #[test]
    fn a_late_timer_charges_twice() {
        let report = racing().run(a_card_is_charged_once);
        let failure = report.failure().expect("not found");
        assert!(
            failure
                .kind
                .to_string()
                .contains("times that the card was charged")
        );
    }

    /// No schedule shows it under an exact clock, and none is reported.
    #[test]
    fn an_exact_clock_does_not_show_it() {
        let report = Checker::new()
            .use_environment(false)
            .run(a_card_is_charged_once);
        report.assert_passed();
    }

    #[test]
    fn a_key_repairs_it() {
        racing()
            .run(a_known_purchase_is_not_charged_again)
            .assert_passed();
    }
}
