//! Flags of `open` that are refused: what they mean is not modelled, or depends on the kernel's version.

use super::checker;
use cct_net::fs;
use std::io::ErrorKind;

#[test]
fn flags_that_are_not_modelled_are_refused() {
    let report = checker("refused").iterations(1).run(|| async {
        fs::write("/f", "x").await.unwrap();
        for flags in [libc::O_SYNC, libc::O_DSYNC, libc::O_DIRECT, libc::O_TRUNC] {
            let mut options = fs::OpenOptions::new();
            options.write(true).custom_flags(flags | libc::O_NOFOLLOW);
            let error = options.open("/f").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            let told = format!("custom flags {flags:#o} of a file are not modelled");
            assert!(error.to_string().starts_with(&told), "{error}");
            // The last flags that are set are those that count.
            options.custom_flags(0).open("/f").await.unwrap();
        }
        assert_eq!(fs::read("/f").await.unwrap(), b"x");
    });
    report.assert_passed();
}

/// As kernels have it since 6.4.
#[test]
fn no_directory_is_made_by_opening_it() {
    let report = checker("directory").iterations(1).run(|| async {
        for path in ["/new", "/tmp"] {
            let mut options = fs::OpenOptions::new();
            options
                .write(true)
                .create(true)
                .custom_flags(libc::O_DIRECTORY);
            let error = options.open(path).await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(22));
        }
        assert!(!fs::try_exists("/new").await.unwrap());
    });
    report.assert_passed();
}
