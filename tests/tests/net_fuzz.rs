//! Random scripts of operations on sockets: ours must do what tokio's do over loopback. See
//! [`cct_tests::fuzz`].

#![cfg(target_os = "linux")]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same interpreters"
)]

use cct_tests::fuzz::Worlds::Net;
use cct_tests::fuzz::compare;

/// Scripts for each interpreter; they take some seconds together, unoptimised.
const SEEDS: u64 = 40;

macro_rules! scripts {
    ($($file:ident)*) => {
        #[path = "../src/scripts/net"]
        mod on_tokio {
            #[path = "tokio_side.rs"]
            pub(crate) mod rt;
            mod ends;
            mod line;
            mod much;
            mod stream;

            $(pub(crate) mod $file;)*
        }

        #[path = "../src/scripts/net"]
        mod on_cct {
            #[path = "cct_side.rs"]
            pub(crate) mod rt;
            mod ends;
            mod line;
            mod much;
            mod stream;

            $(pub(crate) mod $file;)*
        }

        $(#[test]
        fn $file() {
            let (theirs, ours) = (on_tokio::$file::play, on_cct::$file::play);
            if let Err(text) = compare(Net, 0..SEEDS, theirs, ours) {
                panic!("{text}");
            }
        })*
    };
}

scripts! { tcp udp unix_streams unix_datagrams }
