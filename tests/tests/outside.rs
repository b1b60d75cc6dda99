//! Our channels and locks outside a world: on real threads they must do what tokio's do.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

macro_rules! files {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => { $(pub(crate) mod $file;)* };
}

#[path = "../src/contracts"]
mod on_tokio {
    pub(crate) mod rt {
        pub(crate) use tokio::{pin, select, spawn, sync, task, time};
    }

    cct_tests::sync_contracts!(files);
}

#[path = "../src/contracts"]
mod ours {
    pub(crate) mod rt {
        pub(crate) use cct_sync as sync;
        pub(crate) use tokio::{pin, select, spawn, task, time};
    }

    cct_tests::sync_contracts!(files);
}

macro_rules! tests {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => {
        $(mod $file {
            $($(#[test]
            fn $name() {
                let expected = cct_tests::tokio_side::$kind(crate::on_tokio::$file::$name);
                let seen = cct_tests::tokio_side::$kind(crate::ours::$file::$name);
                assert_eq!(seen, expected, "ours noted what tokio does not");
            })*)*
        })*
    };
}

cct_tests::sync_contracts!(tests);
