use std::future::{Ready, pending, ready};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

both! {
    async fn the_future_is_polled_before_the_deadline() {
        use subject::time::{Instant, timeout, timeout_at};
        let now = Instant::now();
        assert_eq!(timeout(Duration::ZERO, ready(1)).await, Ok(1));
        assert_eq!(timeout_at(now - MS, ready(1)).await, Ok(1));
        assert!(timeout(Duration::ZERO, pending::<()>()).await.is_err());
        assert!(timeout_at(now - MS, pending::<()>()).await.is_err());
        assert_eq!(now.elapsed(), Duration::ZERO);
    }

    async fn it_ends_at_its_deadline() {
        use subject::time::{Instant, sleep, timeout};
        let start = Instant::now();
        assert!(timeout(MS * 10, sleep(MS * 11)).await.is_err());
        assert_eq!(start.elapsed(), MS * 10);
        assert!(timeout(MS * 10, sleep(MS * 9)).await.is_ok());
        assert_eq!(start.elapsed(), MS * 19);
        assert!(timeout(Duration::MAX, sleep(MS)).await.is_ok());
        let late = timeout(MS * 5, timeout(MS * 3, pending::<()>())).await;
        assert!(late.expect("the inner deadline comes first").is_err());
    }

    async fn a_future_that_uses_up_the_budget_does_not_starve_the_deadline() {
        use subject::task::consume_budget;
        use subject::time::timeout;
        let spin = async {
            loop {
                consume_budget().await;
            }
        };
        let elapsed: Result<(), _> = timeout(Duration::ZERO, spin).await;
        assert!(elapsed.is_err());
    }

    async fn the_future_can_be_had_back() {
        use subject::time::timeout;
        let mut timeout = timeout(MS, ready(5));
        let _: &Ready<i32> = timeout.get_ref();
        *timeout.get_mut() = ready(6);
        assert_eq!(timeout.into_inner().await, 6);
    }

    async fn elapsed_is_an_io_error() {
        use subject::time::timeout;
        let elapsed = timeout(MS, pending::<()>()).await.unwrap_err();
        assert_eq!(elapsed.to_string(), "deadline has elapsed");
        assert_eq!(format!("{elapsed:?}"), "Elapsed(())");
        assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
    }
}
