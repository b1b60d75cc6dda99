//! Bytes and characters: numbers, length and checksum, base64.

use super::CHARACTERS_MAX;
use super::error::{Kind, TokenError};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CHECKSUM: usize = 4;

/// Splits `c12-rest` into 12 and `rest`.
pub(super) fn split_format(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.strip_prefix('c')?.split_once('-')?;
    let canonical = digits == "0" || !digits.starts_with('0');
    let number = digits.len() <= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    if canonical && number {
        Some((digits.parse().ok()?, rest))
    } else {
        None
    }
}

/// The beginning of a text, short enough for an error message.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Appends a number, seven bits a byte, lowest first.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads what the encoder wrote, and never beyond it.
pub(super) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Bytes { rest: bytes }
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.rest
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], TokenError> {
        let (array, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| Kind::Impossible("a body that ends too early".into()))?;
        self.rest = rest;
        Ok(*array)
    }

    pub(super) fn number(&mut self) -> Result<u128, TokenError> {
        let mut number = 0u128;
        for shift in (0..126).step_by(7) {
            let [byte] = self.array()?;
            number |= u128::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                // A zero at the end could be left out, so one value would have two spellings.
                let shortest = byte != 0 || shift == 0;
                return if shortest { Ok(number) } else { break };
            }
        }
        Err(Kind::Impossible("a number spelled at too great a length".into()).into())
    }
}

/// CRC-32 with the polynomial of IEEE 802.3: it notices every change within 32 adjacent bits.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// The text of a body: its length before it, the checksum behind it.
pub(super) fn seal(body: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(body.len() + CHECKSUM + 5);
    put_number(&mut bytes, body.len() as u128);
    bytes.extend(body);
    bytes.extend(checksum(&bytes).to_le_bytes());
    encode(&bytes)
}

/// The body, once length and checksum were found right. `prefix` counts the characters before the
/// word, for the messages.
pub(super) fn unseal(word: &str, prefix: usize) -> Result<Vec<u8>, TokenError> {
    let mut bytes = decode(word, prefix)?;
    let characters = word.len() + prefix;
    let damaged = || TokenError::from(Kind::Damaged { characters });
    let mut reader = Bytes::new(&bytes);
    let length = reader.number().map_err(|_| Kind::TooShort { characters })?;
    let head = bytes.len() - reader.rest().len();
    let length = usize::try_from(length)
        .ok()
        .filter(|&l| l <= CHARACTERS_MAX)
        .ok_or_else(damaged)?;
    let total = head + length + CHECKSUM;
    let expected = (total * 8).div_ceil(6) + prefix;
    if characters < expected {
        return Err(Kind::CutShort {
            characters,
            expected,
        }
        .into());
    }
    let (sealed, sum) = bytes[..total].split_at(head + length);
    if checksum(sealed).to_le_bytes() != sum {
        return Err(damaged());
    }
    if characters > expected {
        return Err(Kind::Trailing {
            extra: characters - expected,
            expected,
        }
        .into());
    }
    if encode(&bytes) != word {
        // The last character has bits that belong to no byte.
        return Err(damaged());
    }
    bytes.truncate(head + length);
    bytes.drain(..head);
    Ok(bytes)
}

/// Base64 without padding; the bits left over are 0.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() * 8).div_ceil(6));
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for i in 0..=chunk.len() {
            let six = word >> (18 - 6 * i) & 63;
            text.push(char::from(ALPHABET[six as usize]));
        }
    }
    text
}

fn value(character: char) -> Option<u32> {
    let offset = match character {
        'A'..='Z' => 'A' as u32,
        'a'..='z' => 'a' as u32 - 26,
        '0'..='9' => return Some(character as u32 - '0' as u32 + 52),
        '-' => return Some(62),
        '_' => return Some(63),
        _ => return None,
    };
    Some(character as u32 - offset)
}

/// The whole bytes of a text. Bits that do not make a byte are left out.
fn decode(text: &str, prefix: usize) -> Result<Vec<u8>, TokenError> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut word, mut bits) = (0u32, 0);
    for (i, found) in text.chars().enumerate() {
        let six = value(found).ok_or(Kind::Character {
            found,
            position: i + 1 + prefix,
        })?;
        word = word << 6 | six;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Ok(bytes)
}
