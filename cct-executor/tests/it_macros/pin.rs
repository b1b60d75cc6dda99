//! `pin!`.

use super::probe::{Log, run};

both! {
    fn pins_under_the_same_name() {
        let log = Log::default();
        run(async {
            let first = log.probe("first", 1, 1);
            let second = async { 2 };
            subject::pin!(first, second);
            assert_eq!(first.as_mut().await + second.as_mut().await, 3);
            log.add("end");
        });
        assert_eq!(log.take(), "make-first poll-first end drop-first");
    }

    fn pins_what_it_declares() {
        run(async {
            subject::pin! {
                let first = async { 1 };
                let second = async { 2 };
            }
            let got = subject::select! {
                biased;
                got = &mut first => got,
                got = &mut second => got,
            };
            assert_eq!(got + second.await, 3);
        });
    }

    fn pinned_values_drop_last_in_first_out() {
        let log = Log::default();
        run(async {
            let (first, second) = (log.probe("first", 1, ()), log.probe("second", 1, ()));
            subject::pin!(first, second);
            let _ = (&first, &second);
            log.take();
        });
        assert_eq!(log.take(), "drop-second drop-first");
    }

    fn nothing_to_pin() {
        subject::pin!();
    }
}
