//! The contracts on the real tokio: they must describe it correctly before they may judge ours.

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

macro_rules! tests {
    ($($file:ident { $($kind:ident: $($name:ident)*;)* })*) => {
        $(mod $file {
            $($(#[test]
            fn $name() {
                cct_tests::tokio_side::$kind(crate::on_tokio::$file::$name);
            })*)*
        })*
    };
}

cct_tests::sync_contracts!(tests);
cct_tests::runtime_contracts!(tests);
