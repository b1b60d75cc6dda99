//! The contracts on ours: whatever the schedule, they must note what they note on tokio.

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
        pub(crate) use tokio::{join, pin, runtime, select, spawn};
        pub(crate) use tokio::{sync, task, task_local, time, try_join};
    }

    cct_tests::sync_contracts!(files);
    cct_tests::runtime_contracts!(files);
}

#[path = "../src/contracts"]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_executor::{join, pin, runtime, select, spawn};
        pub(crate) use cct_executor::{task, task_local, time, try_join};
        pub(crate) use cct_sync as sync;
    }

    cct_tests::sync_contracts!(files);
    cct_tests::runtime_contracts!(files);
}

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
