use crate::{checker, panic_text, poll_once};
use cct_executor::{Checker, Clock};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

both! {
    async fn deadlines_are_rounded_up_to_milliseconds() {
        use subject::time::{Instant, sleep, sleep_until};
        let start = Instant::now();
        sleep(MS * 3 / 2).await;
        assert_eq!(start.elapsed(), MS * 2);
        sleep(Duration::from_nanos(1)).await;
        assert_eq!(start.elapsed(), MS * 3);
        sleep_until(start + MS * 10).await;
        assert_eq!(start.elapsed(), MS * 10);
    }

    async fn what_is_past_is_ready_in_the_first_poll() {
        use subject::time::{Instant, sleep, sleep_until};
        let now = Instant::now();
        let mut zero = Box::pin(sleep(Duration::ZERO));
        assert!(!zero.is_elapsed());
        assert!(poll_once(&mut zero).await.is_ready());
        assert!(zero.is_elapsed());
        assert!(poll_once(&mut zero).await.is_ready());
        assert!(poll_once(&mut Box::pin(sleep_until(now))).await.is_ready());
        assert!(poll_once(&mut Box::pin(sleep_until(now - MS * 5))).await.is_ready());
        assert_eq!(now.elapsed(), Duration::ZERO);
    }

    async fn too_long_a_sleep_is_bounded_by_thirty_years() {
        use subject::time::{Instant, sleep};
        let sleep = sleep(Duration::MAX);
        let years = Duration::from_secs(86_400 * 365 * 30);
        assert_eq!(sleep.deadline(), Instant::now() + years);
    }

    async fn years_pass() {
        use subject::time::{Instant, sleep};
        let start = Instant::now();
        let years = |count: u64| Duration::from_secs(86_400 * 365 * count);
        sleep(years(2)).await;
        assert_eq!(start.elapsed(), years(2));
        sleep(years(28)).await;
        assert_eq!(start.elapsed(), years(30));
    }

    async fn sleepers_wake_in_order_of_their_deadlines() {
        use subject::time::{Instant, sleep};
        let start = Instant::now();
        let log = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = [30, 10, 20]
            .into_iter()
            .map(|ms| {
                let log = log.clone();
                subject::spawn(async move {
                    sleep(MS * ms).await;
                    assert_eq!(start.elapsed(), MS * ms);
                    log.lock().unwrap().push(ms);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*log.lock().unwrap(), [10, 20, 30]);
    }

    async fn a_reset_timer_needs_no_poll_to_elapse() {
        use subject::time::{Instant, sleep};
        let mut timer = Box::pin(sleep(MS * 10));
        let deadline = Instant::now() + MS * 5;
        timer.as_mut().reset(deadline);
        assert_eq!(timer.deadline(), deadline);
        assert!(!timer.is_elapsed());
        sleep(MS * 6).await;
        assert!(timer.is_elapsed());

        let mut unpolled = Box::pin(sleep(MS));
        sleep(MS * 2).await;
        assert!(!unpolled.is_elapsed());
        assert!(poll_once(&mut unpolled).await.is_ready());

        unpolled.as_mut().reset(Instant::now() + MS * 3);
        assert!(poll_once(&mut unpolled).await.is_pending());
        let start = Instant::now();
        unpolled.await;
        assert_eq!(start.elapsed(), MS * 3);
    }

    async fn a_reset_wakes_who_waits_already() {
        use subject::time::{Instant, sleep};
        let hour = Duration::from_secs(3600);
        for new in [Duration::ZERO, MS * 7, hour * 2] {
            let start = Instant::now();
            let mut timer = Box::pin(sleep(hour));
            assert!(poll_once(&mut timer).await.is_pending());
            let timer = Arc::new(Mutex::new(timer));
            let theirs = timer.clone();
            let waiter = subject::spawn(poll_fn(move |cx| match theirs.try_lock() {
                Ok(mut timer) => timer.as_mut().poll(cx),
                Err(_) => {
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
            }));
            sleep(MS).await;
            timer.lock().unwrap().as_mut().reset(start + new);
            waiter.await.unwrap();
            assert_eq!(start.elapsed(), new.max(MS));
        }
    }

    async fn wakers_of_foreign_make_are_woken() {
        use subject::time::{advance, sleep};
        let count = Arc::new(Count::default());
        let waker = Waker::from(count.clone());
        let mut timer = Box::pin(sleep(MS * 5));
        let poll = |timer: &mut Pin<Box<subject::time::Sleep>>| {
            timer.as_mut().poll(&mut Context::from_waker(&waker))
        };
        assert!(poll(&mut timer).is_pending());
        assert!(poll(&mut timer).is_pending());
        advance(MS * 4).await;
        assert_eq!(count.0.load(SeqCst), 0);
        advance(MS).await;
        assert_eq!(count.0.load(SeqCst), 1);
        assert!(poll(&mut timer).is_ready());

        // And when time moves because nothing else can run.
        timer.as_mut().reset(subject::time::Instant::now() + MS);
        assert!(poll(&mut timer).is_pending());
        sleep(MS * 2).await;
        assert_eq!(count.0.load(SeqCst), 2);
        assert!(poll(&mut timer).is_ready());
    }
}

#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn outside_a_world_there_are_no_timers() {
    use cct_executor::time;
    for text in [
        panic_text(|| time::sleep(MS)),
        panic_text(|| time::sleep_until(time::Instant::now())),
        panic_text(|| time::timeout(MS, async {})),
        panic_text(|| time::interval(MS)),
    ] {
        assert!(
            text.starts_with("there is no world here: timers must be made inside"),
            "{text}"
        );
    }
}

#[test]
fn a_timer_dies_with_its_world() {
    let left: Arc<Mutex<Option<Pin<Box<cct_executor::time::Sleep>>>>> = Arc::default();
    let slot = left.clone();
    let once = || {
        Checker::new()
            .use_environment(false)
            .determinism_check(false)
            .iterations(1)
    };
    once()
        .run(move || {
            let slot = slot.clone();
            async move {
                let mut timer = Box::pin(cct_executor::time::sleep(MS));
                assert!(poll_once(&mut timer).await.is_pending());
                *slot.lock().unwrap() = Some(timer);
            }
        })
        .assert_passed();
    let mut timer = left.lock().unwrap().take().expect("a timer");
    let text = panic_text(|| timer.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    assert!(
        text.starts_with("this timer belongs to another world"),
        "{text}"
    );
    let slot = Arc::new(Mutex::new(Some(timer)));
    let report = once().run(move || {
        let timer = slot.lock().unwrap().take();
        async move { timer.expect("the other world's timer").await }
    });
    assert!(
        report
            .text()
            .contains("this timer belongs to another world"),
        "{}",
        report.text()
    );
}

/// The orders in which sleeps of 10, 13 and 30 ms are seen to end.
fn orders(clock: Clock) -> Vec<Vec<u32>> {
    orders_where(clock, true)
}

fn orders_where(clock: Clock, is_paused: bool) -> Vec<Vec<u32>> {
    let seen: Arc<Mutex<Vec<Vec<u32>>>> = Arc::default();
    let all = seen.clone();
    checker("orders")
        .clock(clock)
        .start_paused(is_paused)
        .iterations(400)
        .run(move || {
            let all = all.clone();
            async move {
                let log = Arc::new(Mutex::new(Vec::new()));
                let tasks = [10, 13, 30].map(|ms| {
                    let log = log.clone();
                    cct_executor::spawn(async move {
                        let start = cct_executor::time::Instant::now();
                        cct_executor::time::sleep(MS * ms).await;
                        assert!(start.elapsed() >= MS * ms, "never early by the clock");
                        log.lock().unwrap().push(ms);
                    })
                });
                for task in tasks {
                    task.await.unwrap();
                }
                all.lock().unwrap().push(log.lock().unwrap().clone());
            }
        })
        .assert_passed();
    let mut seen = seen.lock().unwrap().clone();
    seen.sort();
    seen.dedup();
    seen
}

#[test]
fn clock_policies_decide_which_orders_are_possible() {
    assert_eq!(orders(Clock::Strict), [[10, 13, 30]]);
    let racing = orders(Clock::Racing(MS * 5));
    assert!(racing.contains(&vec![13, 10, 30]), "{racing:?}");
    assert!(racing.contains(&vec![10, 13, 30]), "{racing:?}");
}

/// Of who sleeps for 10 ms, 13 are beyond a slack of one.
#[test]
fn a_clock_that_lags_shows_what_is_near_unless_it_is_paused() {
    let in_order = vec![10, 13, 30];
    let far = orders_where(Clock::Lagging(MS), false);
    assert_eq!(far, std::slice::from_ref(&in_order));
    let near = orders_where(Clock::Lagging(MS * 3), false);
    assert_eq!(near, [in_order.clone(), vec![13, 10, 30]]);
    assert_eq!(orders_where(Clock::Lagging(MS * 3), true), [in_order]);
}

/// However often timers may overtake work that stays ready, no more than the slack passes for it.
#[test]
fn work_is_late_by_no_more_than_the_slack() {
    let latest = Arc::new(Mutex::new(Duration::ZERO));
    let known = latest.clone();
    checker("late work")
        .clock(Clock::Lagging(MS * 3))
        .start_paused(false)
        .iterations(400)
        .run(move || {
            let known = known.clone();
            async move {
                use cct_executor::time::{Instant, sleep, sleep_until};
                for each in 0..8 {
                    cct_executor::spawn(async move {
                        for _ in 0..20 {
                            sleep(MS * (1 + each % 2)).await;
                        }
                    });
                }
                let deadline = Instant::now() + MS * 5;
                sleep_until(deadline).await;
                for _ in 0..10 {
                    cct_executor::task::yield_now().await;
                }
                let mut known = known.lock().unwrap();
                *known = deadline.elapsed().max(*known);
            }
        })
        .assert_passed();
    assert_eq!(*latest.lock().unwrap(), MS * 3);
}

/// What has been started comes to its end before a sleep of whoever started it does, however many hands it goes through; and
/// meanwhile timers of others keep firing.
#[test]
fn a_short_sleep_lets_all_that_was_started_go_on() {
    let report = checker("settled")
        .clock(Clock::Lagging(MS * 2))
        .start_paused(false)
        .iterations(400)
        .run(|| async {
            use cct_executor::task::yield_now;
            use cct_executor::time::sleep;
            use cct_sync::mpsc;
            for _ in 0..3 {
                cct_executor::spawn(async {
                    for _ in 0..12 {
                        sleep(MS).await;
                    }
                });
            }
            for _ in 0..3 {
                let (first, mut second) = mpsc::unbounded_channel();
                let (last, mut done) = mpsc::unbounded_channel();
                cct_executor::spawn(async move {
                    let got: u32 = second.recv().await.unwrap();
                    yield_now().await;
                    cct_executor::spawn(async move {
                        yield_now().await;
                        last.send(got).unwrap();
                    });
                });
                sleep(MS).await;
                first.send(1).unwrap();
                sleep(MS).await;
                assert_eq!(done.try_recv(), Ok(1), "not settled");
            }
        });
    report.assert_passed();
}

/// Two who sleep equally long, and are never two rounds apart as long as work takes no time.
async fn in_step() {
    let rounds = Arc::new(Mutex::new([0_u32; 2]));
    let both = [0, 1].map(|own| {
        let rounds = rounds.clone();
        cct_executor::spawn(async move {
            for _ in 0..5 {
                cct_executor::time::sleep(MS).await;
                let mut rounds = rounds.lock().unwrap();
                rounds[own] += 1;
                assert!(rounds[0].abs_diff(rounds[1]) < 2, "out of step");
            }
        })
    });
    for one in both {
        one.await.unwrap();
    }
}

#[test]
fn where_no_clock_is_chosen_who_sleeps_in_step_gets_out_of_it_now_and_then() {
    let usual = || Checker::new().name("in step").use_environment(false);
    let report = usual().run(in_step);
    let failure = report.failure.as_ref().expect("lateness");
    assert_eq!(failure.token.clock, Clock::Lagging(MS * 2));
    let text = report.text();
    for told in [
        ", clock lagging(2ms), ",
        "a timer fires although a task is ready, as work may take up to 2ms here",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let again = usual().replay(failure.token.clone()).run(in_step);
    let again = again.failure.expect("the same").kind.to_string();
    assert_eq!(again, failure.kind.to_string());
    usual().clock(Clock::Strict).run(in_step).assert_passed();
}
