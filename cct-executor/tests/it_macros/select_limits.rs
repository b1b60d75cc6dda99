//! `select!` with as many branches as there may be, and exported under another name.

use super::probe::run;
use std::future::ready;

both! {
    fn sixty_four_branches() {
        macro_rules! select_of {
            ($($bit:literal)*) => {
                subject::select! {
                    $(number = ready($bit), if $bit == 64 => number,)*
                    else => 0,
                }
            };
        }
        let got = run(async {
            select_of! {
                1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
                17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
                33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48
                49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
            }
        });
        assert_eq!(got, 64);
    }
}

mod facade {
    pub(super) mod runtime {
        pub(in super::super) use cct_executor::{join, select as choose_first, try_join};
    }
}

#[test]
fn exported_again_under_other_names() {
    run(async {
        facade::runtime::choose_first! { number = ready(1) => assert_eq!(number, 1) }
        assert_eq!(facade::runtime::join!(ready(1), ready(2)), (1, 2));
        assert_eq!(facade::runtime::try_join!(ready(Ok::<_, ()>(1))), Ok((1,)));
    });
}
