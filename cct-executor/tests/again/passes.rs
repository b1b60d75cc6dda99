//! Tests without an attribute that must pass where such tests are run.

/// Tests that run `body` in processes in which plain tests are run in these ways, and must pass there.
macro_rules! passes {
    ([$($how:literal)*] $name:ident $body:block) => {
        #[test]
        fn $name() {
            if is_again() {
                return $body;
            }
            for how in [$($how),*] {
                let output = again(stringify!($name), how, &[]);
                assert!(output.status.success(), "{how}: {}", said(&output));
            }
        }
    };
}
