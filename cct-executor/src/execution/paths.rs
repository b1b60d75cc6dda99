//! Places in source code, as reports have them.

use std::panic::Location;

/// `file:line`, as reports have it.
pub(crate) fn place(site: &'static Location<'static>) -> String {
    format!("{}:{}", short(site.file()), site.line())
}

/// The path of a file; in a crate from a registry, in the standard library and in a copy that `cargo cct` has made
/// of a crate, from the crate's folder on, as the rest fills a line.
pub(crate) fn short(file: &str) -> &str {
    let in_registry = file.split_once("/registry/src/");
    let in_crate = in_registry.and_then(|(_, file)| file.split_once('/'));
    // Where its source is installed, and where it is not.
    let in_std = || {
        let installed = file.split_once("/rustlib/src/rust/library/");
        let built = || file.strip_prefix("/rustc/")?.split_once("/library/");
        installed.or_else(built)
    };
    let in_copy = || file.rsplit_once("/cct/patch/");
    let places = in_crate.or_else(in_std).or_else(in_copy);
    places.map_or(file, |(_, file)| file)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn paths_into_a_registry_begin_at_the_crate() {
        let file = "/root/.cargo/registry/src/index.crates.io-1949/ractor-0.15.13/src/actor.rs";
        assert_eq!(short(file), "ractor-0.15.13/src/actor.rs");
        assert_eq!(short("src/registry/src/a.rs"), "src/registry/src/a.rs");
        assert_eq!(short("tests/it.rs"), "tests/it.rs");
    }

    #[test]
    fn paths_into_a_copy_begin_at_the_crate() {
        let file = "/home/u/p/target/cct/patch/tokio-stream/src/wrappers/watch.rs";
        assert_eq!(short(file), "tokio-stream/src/wrappers/watch.rs");
        assert_eq!(short("src/cct/patch.rs"), "src/cct/patch.rs");
    }

    #[test]
    fn paths_into_the_standard_library_begin_at_its_crate() {
        let installed =
            "/root/.rustup/toolchains/stable/lib/rustlib/src/rust/library/alloc/src/sync.rs";
        assert_eq!(short(installed), "alloc/src/sync.rs");
        assert_eq!(
            short("/rustc/59807616e1fa/library/core/src/iter/mod.rs"),
            "core/src/iter/mod.rs"
        );
        assert_eq!(short("src/rustc/library/a.rs"), "src/rustc/library/a.rs");
    }
}
