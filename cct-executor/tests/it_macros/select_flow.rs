//! `select!`: control flow in handlers, and what a branch may mention.

use super::probe::{Counter, run};
use std::future::{pending, ready};

both! {
    fn break_and_continue_reach_the_loop_outside() {
        let counter = Counter::default();
        let got = run(async {
            'outer: loop {
                let number = loop {
                    subject::select! {
                        biased;
                        number = async { counter.next() } => {
                            if number < 3 {
                                continue 'outer;
                            }
                            break number
                        }
                        () = pending() => {}
                    }
                };
                subject::select! {
                    _ = ready(()) => break number,
                }
            }
        });
        assert_eq!(got, 3);
    }

    fn return_leaves_the_function() {
        async fn first(of: Option<u32>) -> u32 {
            subject::select! {
                Some(number) = ready(of) => return number,
                else => {}
            }
            0
        }
        assert_eq!(run(first(Some(3))), 3);
        assert_eq!(run(first(None)), 0);
    }

    fn question_mark_in_handler_future_and_condition() {
        async fn parse(number: &str, condition: Result<bool, &'static str>) -> Result<u32, String> {
            let got = subject::select! {
                parsed = ready(number.parse::<u32>()), if condition? => {
                    parsed.map_err(|error| error.to_string())?
                }
                else => 0,
            };
            Ok(got)
        }
        async fn future(of: Option<u32>) -> Option<u32> {
            subject::select! {
                number = ready(of?) => Some(number + 1),
            }
        }
        assert_eq!(run(parse("4", Ok(true))), Ok(4));
        assert_eq!(run(parse("4", Ok(false))), Ok(0));
        assert_eq!(run(parse("4", Err("no"))), Err("no".to_owned()));
        assert_eq!(run(parse("x", Ok(true))), Err("invalid digit found in string".to_owned()));
        assert_eq!(run(future(Some(1))), Some(2));
        assert_eq!(run(future(None)), None);
    }

    fn await_in_handlers_futures_and_conditions() {
        let got = run(async {
            subject::select! {
                number = ready(ready(2).await), if ready(true).await => {
                    number + ready(3).await
                }
                else => ready(0).await
            }
        });
        assert_eq!(got, 5);
    }

    fn select_in_a_handler_and_in_a_future() {
        let got = run(async {
            subject::select! {
                number = async { subject::select! { number = ready(1) => number } } => {
                    subject::select! {
                        Some(_) = ready(None::<()>) => 0,
                        more = ready(number + 1) => more + number,
                    }
                }
            }
        });
        assert_eq!(got, 3);
    }

    fn handlers_with_and_without_commas() {
        let got = run(async {
            subject::select! {
                biased;
                _ = pending::<()>() => { 1 }
                _ = pending::<()>() => { 2 },
                _ = pending::<()>() => unreachable!(),
                _ = pending::<()>(), if true => { 3 }
                _ = pending::<()>(), if true => { 4 },
                _ = pending::<()>(), if true => if true { 5 } else { 6 },
                _ = pending::<()>() => match 1 { 1 => 7, _ => 8 },
                _ = pending::<()>() => Vec::<(u32, u32)>::with_capacity(1).len(),
                _ = pending::<()>() => [1, 2].map(|number: usize| number + 1)[0],
                _ = ready(()) => 9
            }
        });
        assert_eq!(got, 9);
    }

    fn an_uninhabited_output_is_fine() {
        let got = run(async {
            subject::select! {
                never = pending::<std::convert::Infallible>() => match never {},
                number = ready(1) => number,
            }
        });
        assert_eq!(got, 1);
    }

    fn temporaries_in_futures_live_long_enough() {
        let got = run(async {
            subject::select! {
                text = &mut Box::pin(async { "boxed".to_owned() }) => text,
                () = &mut pending() => String::new(),
            }
        });
        assert_eq!(got, "boxed");
    }

    fn names_of_the_macro_do_not_meet_those_of_the_caller() {
        run(async {
            let (start, disabled, output, pending, turn, cx, future0, enabled) =
                (1, 2, 3, 4, 5, 6, 7, true);
            let got = subject::select! {
                sum = ready(start + disabled + output), if enabled => {
                    sum + pending + turn + cx + future0
                }
            };
            assert_eq!(got, 28);
        });
    }

    fn futures_may_share_a_mutable_variable_with_handlers() {
        let got = run(async {
            let mut total = 0;
            for _ in 0..3 {
                subject::select! {
                    () = async { total += 1 } => total += 10,
                }
            }
            total
        });
        assert_eq!(got, 33);
    }

    fn handlers_move_what_futures_borrow() {
        let text = run(async {
            let text = "moved".to_owned();
            subject::select! {
                len = ready(text.len()) => (text, len),
            }
        });
        assert_eq!(text, ("moved".to_owned(), 5));
    }

    fn fragments_of_other_macros() {
        macro_rules! wrapped {
            ($pattern:pat, $future:expr, $condition:expr, $handler:expr) => {
                subject::select! {
                    biased;
                    $pattern = $future, if $condition => { $handler }
                    else => 0,
                }
            };
            ($handler:block) => {
                subject::select! { _ = ready(()) => $handler }
            };
        }
        let (yes, no) = (true, false);
        assert_eq!(run(async { wrapped!(Some(n), ready(Some(2)), yes || no, n_of(n, 1)) }), 3);
        assert_eq!(run(async { wrapped!(1 | 2, ready(3), true, 1) }), 0);
        assert_eq!(run(async { wrapped!(_, ready(3), yes && no, 1) }), 0);
        assert_eq!(run(async { wrapped!({ 4 }) }), 4);
    }

    fn the_future_is_send_if_the_branches_are() {
        fn assert_send(_: &impl Send) {}
        let future = async {
            subject::select! {
                Some(text) = ready(Some(String::new())) => drop(text),
                else => {}
            }
        };
        assert_send(&future);
        run(future);
    }
}

fn n_of(a: u32, b: u32) -> u32 {
    a + b
}
