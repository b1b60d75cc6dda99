//! The few paths that scripts know, and what else a byte stands for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Deeper than a path can climb: a link leads up by one at most, and forty links are followed.
const DEPTH: usize = 48;

const CORES: [&str; 16] = [
    "a", "b", "c", "d", "a", "c", "a/a", "a/b", "b/a", "b/b", "c/a", "d/a", "a/b/a", "b/a/b",
    "b/c", "a/a/a",
];

/// Permissions, of the owner above all.
pub(super) const MODES: [u32; 16] = [
    0o644, 0o600, 0o400, 0o200, 0o000, 0o755, 0o700, 0o500, 0o300, 0o100, 0o777, 0o1777, 0o2755,
    0o4755, 0o6711, 0o070,
];

const LENGTHS: [usize; 8] = [0, 1, 3, 7, 20, 40, 600, 1500];

/// What is written: few bytes or some sectors, text or not.
pub(super) fn data(byte: u8) -> Vec<u8> {
    let letter = b'a' + byte / 8 % 26;
    let mut bytes = vec![letter; LENGTHS[usize::from(byte % 8)]];
    if let (Some(last), true) = (bytes.last_mut(), byte / 8 == 27) {
        *last = 0xff;
    }
    bytes
}

/// Where everything happens.
pub(super) struct Names {
    top: PathBuf,
    nest: PathBuf,
    base: PathBuf,
}

impl Names {
    pub(super) fn new(top: PathBuf) -> Names {
        let nest: PathBuf = std::iter::repeat_n("n", DEPTH).collect();
        let base = top.join(&nest);
        Names { top, nest, base }
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// The path that a byte stands for; it climbs by one at most.
    pub(super) fn path(&self, byte: u8) -> PathBuf {
        let core = CORES[usize::from(byte % 16)];
        let bytes = |tail: &str| [self.base.as_os_str().as_bytes(), tail.as_bytes()].concat();
        let path = match byte / 16 {
            ..9 => bytes(&format!("/{core}")),
            9 => bytes(&format!("/{core}/")),
            10 => bytes(&format!("/{core}/.")),
            11 => bytes(&format!("/{core}/..")),
            12 => bytes(&format!("/.//{core}")),
            13 => bytes(&format!("/a/../{core}")),
            14 => self.nest.join(core).into_os_string().as_bytes().to_vec(),
            _ => self.odd(byte % 16),
        };
        PathBuf::from(OsStr::from_bytes(&path))
    }

    fn odd(&self, which: u8) -> Vec<u8> {
        let tail: Vec<u8> = match which {
            0 => return Vec::new(),
            1 => "x".repeat(255).into(),
            2 => "x".repeat(256).into(),
            3 => format!("a/{}", "x".repeat(256)).into(),
            4 => format!("{}/a", "x".repeat(256)).into(),
            5 => b"a\0b".to_vec(),
            6 => b"\xff\xfe".to_vec(),
            7 => format!("{}a", "./".repeat(2500)).into(),
            8 => b"a///".to_vec(),
            9 => b"b/././".to_vec(),
            10 => b"a/../".to_vec(),
            11 => b".".to_vec(),
            12 => b"".to_vec(),
            13 => b"a/./../b/".to_vec(),
            14 => "..".into(),
            _ => b"c/./a".to_vec(),
        };
        [self.base.as_os_str().as_bytes(), b"/", &tail].concat()
    }

    /// Where a link is to lead, from where it is or from the root; up by one at most.
    pub(super) fn target(&self, byte: u8) -> PathBuf {
        let core = CORES[usize::from(byte % 16)];
        let text = match byte / 16 {
            ..6 => core.to_owned(),
            6 | 7 => format!("../{core}"),
            8 => format!("./{core}"),
            9 => format!("{core}/"),
            10 => format!("{core}/.."),
            11 => format!("{core}/."),
            12..15 => return self.base.join(core),
            _ => match byte % 16 {
                0 => String::new(),
                1 => "nul\0".to_owned(),
                2 => "x".repeat(255),
                3 => "x".repeat(256),
                4 => format!("{}a", "./".repeat(2500)),
                5..9 => "..".to_owned(),
                9..12 => ".".to_owned(),
                12 => "../".to_owned(),
                13 => "./.".to_owned(),
                _ => return self.base.clone(),
            },
        };
        PathBuf::from(text)
    }

    /// Whether a directory has nothing to say but how deep everything is.
    pub(super) fn is_nest(&self, path: &Path) -> bool {
        self.base.starts_with(path)
    }

    /// A safeguard for the disk of whoever runs this.
    pub(super) fn may_be_emptied(&self, path: &Path) -> bool {
        path.starts_with(&self.base) && !path.ends_with("..")
    }

    /// The same text wherever the directory is.
    pub(super) fn shown(&self, path: &Path) -> String {
        let (all, base) = (
            path.as_os_str().as_bytes(),
            self.base.as_os_str().as_bytes(),
        );
        let top = self.top.as_os_str().as_bytes();
        let (sign, rest) = match (all.strip_prefix(base), all.strip_prefix(top)) {
            (Some(rest), _) => ("@", rest),
            (None, Some(rest)) if top.len() > 1 => ("^", rest),
            (None, Some(_)) => ("^", all),
            _ => ("", all),
        };
        let rest = String::from_utf8_lossy(rest);
        match rest.len() {
            ..300 => format!("`{sign}{rest}`"),
            long => format!("`{sign}{}...{long}`", &rest[..8]),
        }
    }
}
