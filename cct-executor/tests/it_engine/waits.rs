//! What a report says of what tasks wait for.

use crate::{checker, failed};
use cct_executor::spawn;
use cct_executor::words::FailureKind;
use cct_sync::{Barrier, Semaphore, mpsc};

/// Two actors fill each other's inboxes before they look into their own.
async fn full_inboxes() {
    let (to_left, mut from_right) = mpsc::channel(1);
    let (to_right, mut from_left) = mpsc::channel(1);
    let left = spawn(async move {
        for n in 0..3 {
            to_right.send(n).await.unwrap();
        }
        while from_right.recv().await.is_some() {}
    });
    let right = spawn(async move {
        from_left.recv().await.unwrap();
        for n in 0..2 {
            to_left.send(n).await.unwrap();
        }
        while from_left.recv().await.is_some() {}
    });
    left.await.unwrap();
    right.await.unwrap();
}

#[test]
fn who_waits_for_room_learns_who_used_the_other_end_last() {
    let report = checker("inboxes").run(full_inboxes);
    let failure = failed(&report);
    let text = report.text();
    assert!(
        matches!(failure.kind, FailureKind::Deadlock { .. }),
        "{text}"
    );
    let wait = |task: usize| failure.explanation.tasks[task].waits[0].clone();
    let full = "1 message(s), 0 of 1 places free, 1 sender(s)";
    assert_eq!(wait(1).state.as_deref(), Some(full), "{text}");
    assert_eq!(wait(2).state.as_deref(), Some(full), "{text}");
    let uses = wait(1).uses.expect("a channel has ends");
    let uses: Vec<_> = uses.iter().map(|u| (&*u.task, &*u.op, u.ended)).collect();
    assert_eq!(uses, [("2", "recv", false)], "{text}");
    assert_eq!(wait(2).uses, Some(Vec::new()), "{text}");
    assert!(
        text.contains("no other task has used its other end"),
        "{text}"
    );
    // The end of a task is no channel.
    assert_eq!((wait(0).state, wait(0).uses), (None, None), "{text}");
}

/// The scenario keeps a sender, so that the channel never ends.
#[test]
fn who_waits_for_a_message_learns_how_many_could_send_one() {
    let report = checker("kept sender").run(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let other = sender.clone();
        let task = spawn(async move { other.send(1) });
        while receiver.recv().await.is_some() {}
        task.await.unwrap().unwrap();
        drop(sender);
    });
    let text = report.text();
    assert!(text.contains(": 0 message(s), 1 sender(s)\n"), "{text}");
    assert!(
        text.contains("last used by task 1, which has ended: drop in step"),
        "{text}"
    );
}

#[test]
fn who_waits_for_permits_learns_what_is_in_the_way() {
    let report = checker("permits").run(|| async {
        let semaphore = Semaphore::new(1);
        let one = semaphore.acquire().await.unwrap();
        let two = semaphore.acquire_many(2).await.unwrap();
        drop((one, two));
    });
    let text = report.text();
    assert!(
        text.contains("1 in the queue, the first lacks 2 permit(s)"),
        "{text}"
    );
    let report = checker("barrier").run(|| async {
        Barrier::new(2).wait().await;
    });
    let text = report.text();
    assert!(text.contains(": 1 of 2 have come"), "{text}");
}
