//! The contracts on tokio, which they must describe correctly before they may judge ours, and on ours: in worlds
//! and outside of them.

#![expect(clippy::duplicate_mod, reason = "all sides compile the same contracts")]

macro_rules! files {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => { $(pub(crate) mod $file;)* };
}

#[path = "../src/contracts"]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use cct_tests::spawns::on_tokio as spawn;
        pub(crate) use tokio::{join, pin, runtime, select};
        pub(crate) use tokio::{sync, task, task_local, time, try_join};
    }

    cct_tests::sync_contracts!(files);
    cct_tests::runtime_contracts!(files);
}

#[path = "../src/contracts"]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_executor::{join, pin, runtime, select};
        pub(crate) use cct_executor::{task, task_local, time, try_join};
        pub(crate) use cct_sync as sync;
        pub(crate) use cct_tests::spawns::on_cct as spawn;
    }

    cct_tests::sync_contracts!(files);
    cct_tests::runtime_contracts!(files);
}

#[path = "../src/contracts"]
mod ours_on_tokio {
    pub(crate) mod rt {
        pub(crate) use cct_sync as sync;
        pub(crate) use cct_tests::spawns::on_tokio as spawn;
        pub(crate) use tokio::{pin, select, task, time};
    }

    cct_tests::sync_contracts!(files);
}

/// Whatever the schedule, ours must note what is noted on tokio.
mod in_worlds {
    macro_rules! tests {
        ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => {
            $(mod $file {
                $($(#[test]
                fn $name() {
                    let expected = cct_tests::tokio_side::$kind(crate::on_tokio::$file::$name);
                    let name = concat!(stringify!($file), "::", stringify!($name));
                    cct_tests::cct_side::$kind(name, crate::on_cct::$file::$name, expected);
                })*)*
            })*
        };
    }

    cct_tests::sync_contracts!(tests);
    cct_tests::runtime_contracts!(tests);
}

/// Our channels and locks outside of worlds: on real threads they must do what tokio's do.
mod outside {
    macro_rules! tests {
        ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => {
            $(mod $file {
                $($(#[test]
                fn $name() {
                    let expected = cct_tests::tokio_side::$kind(crate::on_tokio::$file::$name);
                    let seen = cct_tests::tokio_side::$kind(crate::ours_on_tokio::$file::$name);
                    assert_eq!(seen, expected, "ours noted what tokio does not");
                })*)*
            })*
        };
    }

    cct_tests::sync_contracts!(tests);
}
