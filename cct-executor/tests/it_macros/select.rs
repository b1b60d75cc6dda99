//! `select!`: which branch is taken, and what happens to the others.

use super::probe::{Later, Log, panic_message, poll_once, run};
use std::future::{pending, ready};
use std::task::Poll;

both! {
    fn biased_polls_in_the_order_of_the_branches() {
        let log = Log::default();
        let got = run(async {
            subject::select! {
                biased;
                () = log.probe("a", 0, ()) => 1,
                () = log.probe("b", 2, ()) => 2,
                () = log.probe("c", 2, ()) => 3,
            }
        });
        assert_eq!(got, 2);
        assert_eq!(
            log.take(),
            "make-a make-b make-c poll-a poll-b poll-c poll-a poll-b drop-a drop-b drop-c"
        );
    }

    fn unbiased_polls_each_branch_once_a_poll() {
        let log = Log::default();
        let got = run(async {
            subject::select! {
                got = log.probe("a", 3, 1) => got,
                got = log.probe("b", 0, 2) => got,
                got = log.probe("c", 0, 3) => got,
            }
        });
        assert_eq!(got, 1);
        let log = log.take();
        assert_eq!(log.matches("poll-a").count(), 3);
        assert!((2..=3).contains(&log.matches("poll-b").count()), "{log}");
        assert!(log.ends_with("drop-a drop-b drop-c"), "{log}");
    }

    fn futures_drop_in_order_before_the_handler() {
        let log = Log::default();
        run(async {
            subject::select! {
                biased;
                () = log.probe("a", 0, ()) => log.add("handler-a"),
                () = log.probe("b", 1, ()) => log.add("handler-b"),
                () = log.probe("c", 0, ()) => log.add("handler-c"),
            }
        });
        assert!(log.take().ends_with("poll-b drop-a drop-b drop-c handler-b"));
    }

    fn futures_drop_in_order_when_cancelled() {
        let log = Log::default();
        let mut future = Box::pin(async {
            subject::select! {
                biased;
                () = log.probe("a", 0, ()) => {}
                () = log.probe("b", 0, ()) => {}
            }
        });
        assert!(poll_once(future.as_mut()).is_pending());
        log.take();
        drop(future);
        assert_eq!(log.take(), "drop-a drop-b");
    }

    fn an_ignored_output_lives_through_the_handler() {
        let log = Log::default();
        run(async {
            subject::select! {
                _ = ready(log.value("output")) => log.add("handler"),
            }
            log.add("after");
        });
        assert_eq!(log.take(), "handler drop-output after");
    }

    fn the_rest_of_a_taken_output_lives_through_the_handler() {
        let log = Log::default();
        run(async {
            subject::select! {
                (first, _) = ready((log.value("first"), log.value("second"))) => {
                    drop(first);
                    log.add("handler");
                }
            }
        });
        assert_eq!(log.take(), "drop-first handler drop-second");
    }

    fn conditions_come_first_and_disabled_futures_are_made() {
        let log = Log::default();
        let check = |name: &str, enabled: bool| {
            log.add(format!("if-{name}"));
            enabled
        };
        run(async {
            subject::select! {
                biased;
                () = log.probe("a", 1, ()), if check("a", false) => log.add("handler-a"),
                () = log.probe("b", 3, ()), if check("b", true) => log.add("handler-b"),
                () = log.probe("c", 0, ()) => log.add("handler-c"),
            }
        });
        assert_eq!(
            log.take(),
            "if-a if-b make-a make-b make-c poll-b poll-c poll-b poll-c poll-b \
             drop-a drop-b drop-c handler-b"
        );
    }

    fn conditions_keep_their_precedence() {
        let (yes, no) = (true, false);
        let got = run(async {
            subject::select! {
                biased;
                _ = ready(()), if no && yes => 1,
                _ = ready(()), if no || yes => 2,
            }
        });
        assert_eq!(got, 2);
    }

    fn futures_become_futures_in_order() {
        let log = Log::default();
        run(async {
            subject::select! {
                biased;
                () = Later(log.probe("a", 0, ())) => {}
                () = Later(log.probe("b", 1, ())) => {}
            }
        });
        assert_eq!(
            log.take(),
            "make-a make-b into-a into-b poll-a poll-b drop-a drop-b"
        );
    }

    fn a_pattern_that_fails_disables_the_branch() {
        let log = Log::default();
        let got = run(async {
            subject::select! {
                biased;
                Some(number) = log.probe("a", 1, None) => number,
                number = log.probe("b", 2, 7) => number,
            }
        });
        assert_eq!(got, 7);
        assert_eq!(log.take(), "make-a make-b poll-a poll-b poll-b drop-a drop-b");
    }

    fn patterns_of_every_kind() {
        #[derive(Debug)]
        struct Point {
            x: i32,
            y: Option<String>,
        }
        enum Word {
            A(u8),
            B(u8),
            C,
        }
        const SEVEN: i32 = 7;
        run(async {
            subject::select! { Some(SEVEN) = ready(Some(7)) => {} }
            subject::select! { 0..=9 = ready(3) => {} }
            subject::select! { -1 | 1 = ready(1) => {} }
            subject::select! { mut number = ready(1) => { number += 1; assert_eq!(number, 2); } }
            subject::select! { Some(mut text) = ready(Some(String::new())) => text.push('x') }
            subject::select! {
                ref text = ready("borrowed".to_owned()) => assert_eq!(text.len(), 8),
            }
            subject::select! {
                Some(ref mut text) = ready(Some(String::new())) => text.push('x'),
            }
            subject::select! {
                Point { x: 1..=5, y: Some(text), .. } = ready(Point { x: 2, y: Some("y".into()) })
                    => assert_eq!(text, "y"),
            }
            subject::select! {
                whole @ Point { x: 2, .. } = ready(Point { x: 2, y: None }) => {
                    assert!(whole.y.is_none());
                    assert_eq!(whole.x, 2);
                }
            }
            subject::select! {
                Word::A(number) | Word::B(number) = ready(Word::B(4)) => assert_eq!(number, 4),
            }
            assert!(matches!(Word::A(0), Word::A(_)) && matches!(Word::C, Word::C));
            subject::select! { [first, .., last] = ready([1, 2, 3]) => assert_eq!(first + last, 4) }
            subject::select! { &number = ready(&5) => assert_eq!(number, 5) }
            subject::select! { None = ready(None::<u32>) => {} }
        });
    }

    fn else_runs_when_all_are_disabled() {
        let got = run(async {
            subject::select! {
                Some(number) = ready(None::<u32>) => number,
                Some(number) = ready(Some(1)), if false => number,
                else => 9,
            }
        });
        assert_eq!(got, 9);
    }

    fn else_alone() {
        assert_eq!(run(async { subject::select! { else => 4 } }), 4);
        assert_eq!(run(async { subject::select! { biased; else => 5, } }), 5);
    }

    fn without_else_it_panics() {
        let message = panic_message(|| {
            run(async {
                subject::select! {
                    Some(()) = ready(None) => {}
                    () = pending(), if false => {}
                }
            })
        });
        assert_eq!(message, "all branches are disabled and there is no else branch");
    }

    fn a_disabled_branch_beside_a_pending_one_does_not_end_it() {
        let mut future = Box::pin(async {
            subject::select! {
                Some(()) = ready(None) => {}
                () = pending() => {}
                else => {}
            }
        });
        assert_eq!(poll_once(future.as_mut()), Poll::Pending);
        assert_eq!(poll_once(future.as_mut()), Poll::Pending);
    }

    fn borrowed_futures_go_on() {
        let log = Log::default();
        run(async {
            let mut long = log.probe("long", 3, "long");
            let mut rounds = 0;
            let got = loop {
                subject::select! {
                    biased;
                    got = &mut long => break got,
                    () = log.probe("short", 1, ()) => rounds += 1,
                }
            };
            assert_eq!((got, rounds), ("long", 2));
        });
    }
}
