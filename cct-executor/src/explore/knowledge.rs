//! What a strategy has learnt, kept in a file so that a later run goes on learning.
//!
//! The file belongs to one test and one strategy with its parameters; it holds one piece for each
//! lane. Format: the magic `cctk`, a version, then test, strategy and pieces, each with its length,
//! and a hash over all of it. Numbers are little-endian.
//!
//! 1. A file that cannot be used is an error that says why. It is never overwritten then.
//! 2. The new file replaces the old one in one step.

use crate::words::fingerprint::hash_of;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

const MAGIC: &[u8] = b"cctk";
const VERSION: u32 = 1;

/// The pieces of a file, one a lane.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Knowledge {
    pub(super) pieces: Vec<Vec<u8>>,
}

/// Reads what was learnt for this test by this strategy; nothing if there is no file yet.
///
/// # Errors
/// If the file cannot be read or is not one for this test and strategy. The text names file, value
/// and remedy.
pub(super) fn read(path: &Path, test: &str, strategy: &str) -> Result<Knowledge, String> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Knowledge::default()),
        Err(error) => return Err(complain(path, error)),
    };
    decode(&bytes, test, strategy).map_err(|error| complain(path, error))
}

/// The message for a file that is of no use.
pub(super) fn complain(path: &Path, error: impl Display) -> String {
    format!("learnt table {}: {error}", path.display())
}

/// Writes what was learnt.
///
/// # Errors
/// If the file cannot be written; what was there before is still there then.
pub(super) fn write(
    path: &Path,
    test: &str,
    strategy: &str,
    pieces: &[Vec<u8>],
) -> Result<(), String> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    std::fs::write(&fresh, encode(test, strategy, pieces))
        .and_then(|()| std::fs::rename(&fresh, path))
        .map_err(|error| {
            let path = path.display();
            format!("what was learnt could not be written to {path}: {error}")
        })
}

fn encode(test: &str, strategy: &str, pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    let mut put = |piece: &[u8]| {
        bytes.extend((piece.len() as u64).to_le_bytes());
        bytes.extend(piece);
    };
    put(test.as_bytes());
    put(strategy.as_bytes());
    pieces.iter().for_each(|piece| put(piece));
    bytes.extend(hash_of(&bytes[..]).to_le_bytes());
    bytes
}

fn decode(bytes: &[u8], test: &str, strategy: &str) -> Result<Knowledge, String> {
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or("this is not a file of learnt tables; name another file, or delete it")?;
    let (version, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(format!(
            "its format is {version}, this version of cct reads {VERSION}; delete the file"
        ));
    }
    let (mut rest, hash) = rest.split_last_chunk().ok_or_else(damaged)?;
    if u64::from_le_bytes(*hash) != hash_of(&bytes[..bytes.len() - 8]) {
        return Err(damaged());
    }
    let mut pieces = Vec::new();
    while let Some((length, more)) = rest.split_first_chunk() {
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
        let (piece, more) = more.split_at_checked(length).ok_or_else(damaged)?;
        pieces.push(piece.to_vec());
        rest = more;
    }
    if pieces.len() < 2 || !rest.is_empty() {
        return Err(damaged());
    }
    let texts: Vec<_> = pieces.drain(..2).collect();
    for (what, found, expected) in [("test", &texts[0], test), ("strategy", &texts[1], strategy)] {
        if found != expected.as_bytes() {
            return Err(format!(
                "it was learnt with {what} `{}`, not `{expected}`; name another file, or delete it",
                String::from_utf8_lossy(found)
            ));
        }
    }
    Ok(Knowledge { pieces })
}

fn damaged() -> String {
    "it is damaged; delete the file".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        for pieces in [
            vec![],
            vec![vec![]],
            vec![vec![1, 2, 3], vec![], vec![9; 100]],
        ] {
            let bytes = encode("t", "ql", &pieces);
            assert_eq!(decode(&bytes, "t", "ql"), Ok(Knowledge { pieces }));
        }
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = encode("test", "ql:alpha=0.5", &[vec![1, 2, 3]]);
        for at in 0..bytes.len() {
            assert!(decode(&bytes[..at], "test", "ql:alpha=0.5").is_err());
            for bit in 0..8 {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                assert!(decode(&bad, "test", "ql:alpha=0.5").is_err(), "{at} {bit}");
            }
        }
    }

    #[test]
    fn errors_name_what_differs_and_the_remedy() {
        let bytes = encode("mine", "ql", &[]);
        let error = |test, strategy| decode(&bytes, test, strategy).unwrap_err();
        assert_eq!(
            error("other", "ql"),
            "it was learnt with test `mine`, not `other`; name another file, or delete it"
        );
        assert_eq!(
            error("mine", "pct"),
            "it was learnt with strategy `ql`, not `pct`; name another file, or delete it"
        );
        assert!(
            decode(b"hello", "mine", "ql")
                .unwrap_err()
                .starts_with("this is not a file")
        );
    }
}
