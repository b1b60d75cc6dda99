//! A future that is dropped halfway.
//!
//! Every `await` is a place where a future may end for good: its caller has a time limit, a
//! `select!` takes another branch, a connection closes. Here a job is taken out of the queue, worked
//! on, and only then noted as done. Dropped in between, it is in neither place.
//!
//! Tests rarely drop futures. With [`cct_executor::cancellable`] a test says which future its
//! caller may give up, and *when* it is given up is one more choice of the search: before its first
//! poll, and at every moment at which it waits.

use cct_executor::{cancellable, task::yield_now};
use cct_sync::Mutex;
use std::collections::VecDeque;

/// Jobs that wait, and jobs that are done.
#[derive(Default)]
struct Jobs {
    waiting: Mutex<VecDeque<u32>>,
    done: Mutex<Vec<u32>>,
}

impl Jobs {
    fn new() -> Jobs {
        Jobs {
            waiting: Mutex::new(VecDeque::from([1, 2, 3])),
            ..Jobs::default()
        }
    }

    async fn count(&self) -> usize {
        self.waiting.lock().await.len() + self.done.lock().await.len()
    }
}

/// Stands for the I/O that a job needs.
async fn perform(_job: u32) {
    yield_now().await;
}

/// The program with the bug: a job leaves the queue before it is done.
pub async fn no_job_is_lost() {
    let jobs = Jobs::new();
    let _given_up = cancellable(async {
        loop {
            let Some(job) = jobs.waiting.lock().await.pop_front() else {
                break;
            };
            perform(job).await;
            jobs.done.lock().await.push(job);
        }
    })
    .await;
    assert_eq!(jobs.count().await, 3, "a job is neither waiting nor done");
}

/// The repaired program: both locks are taken before anything moves, and nothing waits in between.
pub async fn no_finished_job_is_lost() {
    let jobs = Jobs::new();
    let _given_up = cancellable(async {
        loop {
            let Some(job) = jobs.waiting.lock().await.front().copied() else {
                break;
            };
            perform(job).await;
            let mut waiting = jobs.waiting.lock().await;
            let mut done = jobs.done.lock().await;
            waiting.pop_front();
            done.push(job);
        }
    })
    .await;
    assert_eq!(jobs.count().await, 3, "a job is neither waiting nor done");
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_executor::Checker;

    #[test]
    fn a_cancellation_loses_a_job() {
        let report = Checker::new().use_environment(false).run(no_job_is_lost);
        let failure = report.failure().expect("not found");
        assert!(
            failure
                .kind
                .to_string()
                .contains("neither waiting nor done")
        );
    }

    #[test]
    fn the_repaired_program_may_be_cancelled_anywhere() {
        let report = Checker::new()
            .strategy_text("exhaustive")
            .use_environment(false)
            .run(no_finished_job_is_lost);
        report.assert_passed();
        assert!(report.coverage.all_schedules.is_some());
    }
}
