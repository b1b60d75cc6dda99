use crate::{panic_text, poll_once};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Ticks come at these milliseconds when the first one is taken at once, then the clock moves by
/// `moves` before each further tick.
macro_rules! ticks {
    ($behavior:ident, $moves:expr) => {{
        use subject::time::{Instant, MissedTickBehavior, advance, interval};
        let start = Instant::now();
        let mut interval = interval(MS * 10);
        interval.set_missed_tick_behavior(MissedTickBehavior::$behavior);
        assert_eq!(
            interval.missed_tick_behavior(),
            MissedTickBehavior::$behavior
        );
        let mut ticks = vec![(interval.tick().await - start).as_millis()];
        for ms in $moves {
            advance(MS * ms).await;
            ticks.push((interval.tick().await - start).as_millis());
        }
        (ticks, start.elapsed().as_millis())
    }};
}

both! {
    async fn ticks_come_at_multiples_of_the_period() {
        assert_eq!(ticks!(Burst, [0, 3, 0]), (vec![0, 10, 20, 30], 30));
    }

    async fn burst_makes_up_for_missed_ticks() {
        assert_eq!(ticks!(Burst, [35, 0, 0, 0]), (vec![0, 10, 20, 30, 40], 40));
    }

    async fn delay_counts_anew() {
        assert_eq!(ticks!(Delay, [35, 0, 0]), (vec![0, 10, 45, 55], 55));
    }

    async fn skip_keeps_to_the_multiples() {
        assert_eq!(ticks!(Skip, [35, 0, 0]), (vec![0, 10, 40, 50], 50));
    }

    async fn five_milliseconds_late_is_on_time() {
        assert_eq!(ticks!(Delay, [15, 0]), (vec![0, 10, 20], 20));
        assert_eq!(ticks!(Delay, [16, 0]), (vec![0, 10, 26], 26));
    }

    async fn an_interval_may_begin_in_the_past() {
        use subject::time::{Instant, interval_at};
        let now = Instant::now();
        let mut interval = interval_at(now - MS * 20, MS * 10);
        for due in [now - MS * 20, now - MS * 10, now, now + MS * 10] {
            assert_eq!(interval.tick().await, due);
        }
        assert_eq!(interval.period(), MS * 10);
        assert_eq!(now.elapsed(), MS * 10);
    }

    async fn resets_move_the_next_tick() {
        use subject::time::{Instant, advance, interval};
        let start = Instant::now();
        let mut interval = interval(MS * 10);
        interval.tick().await;
        advance(MS * 4).await;
        interval.reset();
        assert_eq!(interval.tick().await, start + MS * 14);
        interval.reset_immediately();
        assert_eq!(interval.tick().await, start + MS * 14);
        interval.reset_after(MS * 3);
        assert_eq!(interval.tick().await, start + MS * 17);
        interval.reset_at(start + MS * 40);
        assert_eq!(interval.tick().await, start + MS * 40);
        assert_eq!(interval.tick().await, start + MS * 50);
    }

    async fn a_dropped_tick_is_not_lost() {
        use subject::time::{Instant, interval, sleep};
        let start = Instant::now();
        let mut interval = interval(MS * 10);
        interval.tick().await;
        assert!(poll_once(&mut Box::pin(interval.tick())).await.is_pending());
        sleep(MS * 12).await;
        assert_eq!(interval.tick().await, start + MS * 10);
    }

    async fn the_period_must_not_be_zero() {
        use subject::time::{Instant, interval, interval_at};
        for text in [
            panic_text(|| interval(Duration::ZERO)),
            panic_text(|| interval_at(Instant::now(), Duration::ZERO)),
        ] {
            assert_eq!(text, "`period` must be non-zero.");
        }
    }
}
