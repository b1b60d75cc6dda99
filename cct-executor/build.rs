//! Tells the crate whether it is optimised. A run that time cuts short says so if it is not: that is
//! what most of the time went into.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells build scripts through the environment; no decision reads it"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(cct_unoptimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=cct_unoptimised");
    }
}
