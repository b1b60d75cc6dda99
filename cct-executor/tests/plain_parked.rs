//! Tests without an attribute that wait, as a thread does, for what tasks of their runtime send by channels of the standard
//! library: those pass over who waits on the thread that sends.
#![cfg(target_os = "linux")]

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::Runtime;
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_sync::mpsc as tasks;
use std::future::pending;
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::time::Duration;

const MOMENT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(30);

passes!(["once" "explore"] who_sends_goes_on_for_ever {
    let runtime = Runtime::new().unwrap();
    let (tell, told) = channel();
    runtime.spawn(async move {
        for number in 0.. {
            tell.send(number).unwrap();
            yield_now().await;
            if number % 3 == 2 {
                sleep(MOMENT).await;
            }
            if number == 9 {
                pending::<()>().await;
            }
        }
    });
    for number in 0..10 {
        assert_eq!(told.recv(), Ok(number));
    }
    assert_eq!(told.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout));
});

passes!(["once"] question_and_answer {
    let runtime = Runtime::new().unwrap();
    let (ask, mut asked) = tasks::channel(1);
    let (tell, told) = channel();
    runtime.spawn(async move {
        while let Some(number) = asked.recv().await {
            tell.send(number + 1).unwrap();
        }
    });
    for number in 0..10 {
        ask.blocking_send(number).unwrap();
        assert_eq!(told.recv_timeout(LONG), Ok(number + 1));
    }
});

passes!(["once"] inside_of_block_on {
    let runtime = Runtime::new().unwrap();
    let (tell, told) = channel();
    let heard = runtime.block_on(async {
        cct_executor::spawn(async move {
            tell.send(1).unwrap();
            pending::<()>().await;
        });
        told.recv()
    });
    assert_eq!(heard, Ok(1));
});

passes!(["once"] both_wait_for_each_other {
    let runtime = Runtime::new().unwrap();
    let (tell, told) = sync_channel(0);
    let (answer, answered) = sync_channel(0);
    runtime.spawn(async move {
        for number in 0..5 {
            tell.send(number).unwrap();
            assert_eq!(answered.recv(), Ok(number));
        }
        pending::<()>().await;
    });
    for number in 0..5 {
        assert_eq!(told.recv(), Ok(number));
        answer.send(number).unwrap();
    }
});
