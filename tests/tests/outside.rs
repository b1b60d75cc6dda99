//! Our channels and locks outside a world: on real threads they must do what tokio's do.

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

/// Contracts of time need the clock of a world, or that of tokio.
macro_rules! test {
    (clock $file:ident $name:ident) => {};
    ($kind:ident $file:ident $name:ident) => {
        #[test]
        fn $name() {
            let expected = cct_tests::tokio_side::$kind(crate::on_tokio::$file::$name);
            let ours = cct_tests::tokio_side::$kind(crate::ours::$file::$name);
            assert_eq!(ours, expected, "ours noted what tokio does not");
        }
    };
}

macro_rules! tests {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => {
        $(mod $file { $($(test! { $kind $file $name })*)* })*
    };
}

cct_tests::sync_contracts!(tests);
