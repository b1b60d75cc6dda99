//! `join!` and `try_join!`.

use super::probe::{Later, Log, poll_once, run};
use std::convert::Infallible;
use std::future::ready;
use std::task::Poll;

both! {
    fn join_returns_all_outputs() {
        run(async {
            assert_eq!(subject::join!(ready(1), ready("two"), async { 3.0 }), (1, "two", 3.0));
            assert_eq!(subject::join!(ready(1),), (1,));
            assert_eq!(subject::join!(), ());
            assert_eq!(subject::join!(biased; ready(1), ready(2)), (1, 2));
            assert_eq!(subject::join!(biased;), ());
        });
    }

    fn join_begins_one_further_at_each_poll() {
        let log = Log::default();
        run(async {
            subject::join!(
                log.probe("a", 4, ()),
                log.probe("b", 4, ()),
                log.probe("c", 4, ()),
            )
        });
        assert_eq!(
            log.take(),
            "make-a make-b make-c \
             poll-a poll-b poll-c poll-b poll-c poll-a poll-c poll-a poll-b \
             poll-a drop-a poll-b drop-b poll-c drop-c"
        );
    }

    fn biased_join_begins_with_the_first() {
        let log = Log::default();
        run(async {
            subject::join!(biased; log.probe("a", 3, ()), log.probe("b", 2, ()))
        });
        assert_eq!(
            log.take(),
            "make-a make-b poll-a poll-b poll-a poll-b drop-b poll-a drop-a"
        );
    }

    fn join_drops_in_order_when_cancelled() {
        let log = Log::default();
        let mut future = Box::pin(async {
            subject::join!(
                log.probe("a", 0, ()),
                log.probe("b", 1, log.value("output-b")),
                log.probe("c", 0, ()),
            )
        });
        assert!(poll_once(future.as_mut()).is_pending());
        assert_eq!(log.take(), "make-a make-b make-c poll-a poll-b drop-b poll-c");
        drop(future);
        assert_eq!(log.take(), "drop-a drop-output-b drop-c");
    }

    fn join_takes_what_becomes_a_future() {
        let log = Log::default();
        run(async {
            subject::join!(Later(log.probe("a", 1, ())), Later(log.probe("b", 1, ())))
        });
        assert_eq!(log.take(), "make-a into-a make-b into-b poll-a drop-a poll-b drop-b");
    }

    fn try_join_returns_all_values() {
        run(async {
            let all: Result<_, ()> = subject::try_join!(ready(Ok(1)), ready(Ok("two")));
            assert_eq!(all, Ok((1, "two")));
            let none: Result<(), ()> = subject::try_join!();
            assert_eq!(none, Ok(()));
            let none: Result<(), ()> = subject::try_join!(biased;);
            assert_eq!(none, Ok(()));
        });
    }

    fn try_join_stops_at_the_first_error() {
        let log = Log::default();
        let got = run(async {
            let got: Result<((), (), ()), &str> = subject::try_join!(
                log.probe("a", 0, Ok(())),
                log.probe("b", 2, Err("no")),
                log.probe("c", 1, Ok(())),
            );
            log.add("handled");
            got
        });
        assert_eq!(got, Err("no"));
        assert_eq!(
            log.take(),
            "make-a make-b make-c poll-a poll-b poll-c drop-c poll-b drop-b drop-a handled"
        );
    }

    fn biased_try_join_reports_the_earlier_branch() {
        let got = run(async {
            subject::try_join!(
                biased;
                async { Err::<(), _>("first") },
                async { Err::<(), _>("second") },
            )
        });
        assert_eq!(got, Err("first"));
    }

    fn try_join_with_an_uninhabited_error() {
        async fn add() -> Result<u32, Infallible> {
            let both: Result<_, Infallible> = subject::try_join!(ready(Ok(1)), ready(Ok(2)));
            let (a, b) = both?;
            Ok(a + b)
        }
        assert_eq!(run(add()), Ok(3));
    }

    fn joins_nest_and_borrow() {
        let mut text = String::new();
        let mut other = 0;
        run(async {
            subject::join!(
                async { text.push('x') },
                async { other = subject::join!(ready(1), ready(2)).1 },
            );
        });
        assert_eq!((text.as_str(), other), ("x", 2));
    }

    fn a_pending_join_stays_pending() {
        let log = Log::default();
        let mut future = Box::pin(async {
            subject::try_join!(log.probe("a", 0, Ok::<(), ()>(())), log.probe("b", 1, Ok(())))
        });
        assert_eq!(poll_once(future.as_mut()), Poll::Pending);
        assert_eq!(poll_once(future.as_mut()), Poll::Pending);
    }
}
