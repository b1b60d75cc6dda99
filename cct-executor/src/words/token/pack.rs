//! Decisions as few bytes: an adaptive range coder.
//!
//! Schedules of priority strategies repeat one choice for long, random ones cannot be compressed.
//! Every yes/no question below has a counter that learns how it is usually answered: a
//! usual answer then costs next to nothing, and one that cannot be foreseen hardly more than its
//! information.
//!
//! 1. Encoder and decoder run the same [`Model::code`]; what is asked and learned cannot differ.
//! 2. No answer is ever certain to the model: a decision costs at least three times
//!    log2(65536 / 65505) bits, so a byte holds fewer than 4,096 decisions.
//! 3. The packed length follows from the decisions: one that differs is an error.

use super::error::{Kind, TokenError};
use crate::words::trace::{Decision, DecisionKind, Trace};

const ARITY_MAX: u32 = 1 << 30;
/// Bytes a decoder has read beyond the packed ones when it is done: the range coder works on four,
/// the encoder writes the first of them.
const AHEAD: usize = 3;

/// The packed decisions.
pub(super) fn pack(decisions: &[Decision]) -> Vec<u8> {
    let mut encoder = Encoder {
        low: 0,
        range: u32::MAX,
        out: Vec::new(),
    };
    let mut model = Model::default();
    for &decision in decisions {
        model.code(&mut encoder, decision);
    }
    if decisions.is_empty() {
        Vec::new()
    } else {
        encoder.finish()
    }
}

/// The decisions that were packed.
pub(super) fn unpack(bytes: &[u8], count: u32) -> Result<Trace, TokenError> {
    let mut trace = Trace::default();
    if count == 0 {
        return if bytes.is_empty() {
            Ok(trace)
        } else {
            Err(length_error(count, bytes))
        };
    }
    let mut decoder = Decoder::new(bytes);
    let mut model = Model::default();
    for number in 0..count {
        let decision = model.code(&mut decoder, DUMMY);
        let Decision { index, arity, .. } = decision;
        if !(2..=ARITY_MAX).contains(&arity) || index >= arity {
            let what = format!("decision {number} is choice {index} of {arity}");
            return Err(Kind::Impossible(what).into());
        }
        if decoder.outside || decoder.position > bytes.len() + AHEAD {
            return Err(length_error(count, bytes));
        }
        trace.push(decision);
    }
    if decoder.is_done() {
        Ok(trace)
    } else {
        Err(length_error(count, bytes))
    }
}

fn length_error(count: u32, bytes: &[u8]) -> TokenError {
    Kind::Impossible(format!("{count} decisions in {} bytes", bytes.len())).into()
}

/// What the decoder passes where the encoder passes the decision to write.
const DUMMY: Decision = Decision {
    kind: DecisionKind::Schedule,
    index: 0,
    arity: 2,
};

/// One direction of coding. The encoder writes the answer it is given and returns it, the decoder
/// ignores what it is given and returns the answer it reads.
trait Coder {
    /// A yes/no question whose usual answer `bit` learns.
    fn bit(&mut self, bit: &mut Bit, answer: bool) -> bool;

    /// A number below `count`, all equally likely. `count` is 1 to 2^16.
    fn uniform(&mut self, count: u32, answer: u32) -> u32;
}

/// How often a question was answered "no".
#[derive(Clone, Copy)]
struct Bit {
    /// Share of "no", in 65536ths. Invariant: 31 to 65505.
    no: u32,
    seen: u32,
}

impl Default for Bit {
    fn default() -> Self {
        Bit {
            no: 1 << 15,
            seen: 0,
        }
    }
}

impl Bit {
    /// Learns fast at first, then keeps about the last 32 answers in mind.
    fn learn(&mut self, answer: bool) {
        let pace = self.seen + 2;
        if answer {
            self.no -= self.no / pace;
        } else {
            self.no += ((1 << 16) - self.no) / pace;
        }
        self.seen = (self.seen + 1).min(30);
    }
}

/// What the decisions so far say about the next one.
#[derive(Default)]
struct Model {
    value: [Bit; 2],
    last: usize,
    kinds: [KindModel; 2],
}

/// The part for one kind of decision.
struct KindModel {
    arity: u32,
    index: u32,
    arity_differed: bool,
    index_differed: bool,
    arity_differs: [Bit; 2],
    arity_grows: Bit,
    arity_step: [Bit; 32],
    index_differs: [[Bit; 2]; 2],
    /// Trees of questions for numbers of 1 to 4 bits.
    index_tree: [[Bit; 16]; 5],
}

impl Default for KindModel {
    fn default() -> Self {
        KindModel {
            arity: 2,
            index: 0,
            arity_differed: false,
            index_differed: false,
            arity_differs: Default::default(),
            arity_grows: Bit::default(),
            arity_step: Default::default(),
            index_differs: Default::default(),
            index_tree: Default::default(),
        }
    }
}

impl Model {
    /// Codes one decision. The decoder must check what comes out: damaged input can give any
    /// numbers, but no panic.
    fn code(&mut self, coder: &mut impl Coder, decision: Decision) -> Decision {
        let value = decision.kind == DecisionKind::Value;
        let value = coder.bit(&mut self.value[self.last], value);
        self.last = usize::from(value);
        let model = &mut self.kinds[self.last];
        let arity = model.code_arity(coder, decision.arity);
        let index = model.code_index(coder, decision.index, arity);
        let kind = if value {
            DecisionKind::Value
        } else {
            DecisionKind::Schedule
        };
        Decision { kind, index, arity }
    }
}

impl KindModel {
    fn code_arity(&mut self, coder: &mut impl Coder, arity: u32) -> u32 {
        let context = usize::from(self.arity_differed);
        self.arity_differed = coder.bit(&mut self.arity_differs[context], arity != self.arity);
        if self.arity_differed {
            let grows = coder.bit(&mut self.arity_grows, arity > self.arity);
            let step = code_step(
                coder,
                &mut self.arity_step,
                arity.abs_diff(self.arity).max(1),
            );
            let arity = if grows {
                self.arity.checked_add(step)
            } else {
                self.arity.checked_sub(step)
            };
            // Only damaged input steps out of range; the caller rejects 0.
            self.arity = arity.unwrap_or(0);
        }
        self.arity
    }

    fn code_index(&mut self, coder: &mut impl Coder, index: u32, arity: u32) -> u32 {
        let top = arity.saturating_sub(1);
        let expected = self.index.min(top);
        let contexts = &mut self.index_differs[usize::from(self.arity_differed)];
        let context = usize::from(self.index_differed);
        self.index_differed = coder.bit(&mut contexts[context], index != expected);
        self.index = expected;
        if self.index_differed {
            // Coded as what lies between, going round: taking turns is then a habit to learn.
            let between = index.wrapping_sub(expected).wrapping_sub(1);
            let between = if index > expected {
                between
            } else {
                between.wrapping_add(arity)
            };
            let between = self.code_between(coder, between, top);
            let (after, before) = (top - expected, between.wrapping_sub(top - expected));
            self.index = match between {
                // Only damaged input goes all the way round; the caller rejects the index.
                _ if between >= top => u32::MAX,
                _ if between < after => expected + 1 + between,
                _ => before,
            };
        }
        self.index
    }

    /// Codes a number below `count`.
    fn code_between(&mut self, coder: &mut impl Coder, number: u32, count: u32) -> u32 {
        match count {
            0 | 1 => 0,
            2..=16 => {
                let bits = u32::BITS - (count - 1).leading_zeros();
                let tree = &mut self.index_tree[bits as usize];
                let mut node = 1;
                for level in (0..bits).rev() {
                    let answer = coder.bit(&mut tree[node], number >> level & 1 == 1);
                    node = node << 1 | usize::from(answer);
                }
                node as u32 - (1 << bits)
            }
            17..=0x1_0000 => coder.uniform(count, number),
            _ => {
                let high = coder.uniform(((count - 1) >> 16) + 1, number >> 16);
                high << 16 | coder.uniform(1 << 16, number & 0xffff)
            }
        }
    }
}

/// Codes a number above 0: how many bits it has, then all but the first of them.
fn code_step(coder: &mut impl Coder, lengths: &mut [Bit; 32], step: u32) -> u32 {
    let bits = u32::BITS - step.leading_zeros();
    let mut length = 1;
    while length < u32::BITS && coder.bit(&mut lengths[length as usize], bits > length) {
        length += 1;
    }
    (0..length - 1).rev().fold(1, |number, level| {
        number << 1 | coder.uniform(2, step >> level & 1)
    })
}

/// Writes an interval within [0, 1) ever more precisely.
struct Encoder {
    low: u32,
    /// Invariant: at least 2^24 between calls.
    range: u32,
    out: Vec<u8>,
}

impl Encoder {
    fn narrow(&mut self, start: u32, size: u32) {
        self.add(start);
        self.range = size;
        while self.range < 1 << 24 {
            self.shift();
            self.range <<= 8;
        }
    }

    fn add(&mut self, start: u32) {
        let (low, carry) = self.low.overflowing_add(start);
        self.low = low;
        if carry {
            for byte in self.out.iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    fn shift(&mut self) {
        self.out.push((self.low >> 24) as u8);
        self.low <<= 8;
    }

    /// Rounds up to a number that one more byte can hold; the interval is wide enough.
    fn finish(mut self) -> Vec<u8> {
        self.add((1 << 24) - 1);
        self.shift();
        self.out
    }
}

impl Coder for Encoder {
    fn bit(&mut self, bit: &mut Bit, answer: bool) -> bool {
        let bound = (self.range >> 16) * bit.no;
        if answer {
            self.narrow(bound, self.range - bound)
        } else {
            self.narrow(0, bound)
        }
        bit.learn(answer);
        answer
    }

    fn uniform(&mut self, count: u32, answer: u32) -> u32 {
        let part = self.range / count;
        self.narrow(part * answer, part);
        answer
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
    position: usize,
    range: u32,
    /// What was read, from the lower end of the interval.
    offset: u32,
    /// What was read lies outside the interval: no encoder wrote it.
    outside: bool,
}

impl<'a> Decoder<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Decoder {
            bytes,
            position: 0,
            range: u32::MAX,
            offset: 0,
            outside: false,
        };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    /// Everything was read, and the encoder would have ended on the same number.
    fn is_done(&self) -> bool {
        self.position == self.bytes.len() + AHEAD && self.offset < 1 << 24
    }

    fn shift(&mut self) {
        let byte = self.bytes.get(self.position).copied().unwrap_or(0);
        self.offset = self.offset << 8 | u32::from(byte);
        self.position += 1;
    }

    fn narrow(&mut self, start: u32, size: u32) {
        self.offset -= start;
        self.outside |= self.offset >= size;
        self.range = size;
        while self.range < 1 << 24 {
            self.shift();
            self.range <<= 8;
        }
    }
}

impl Coder for Decoder<'_> {
    fn bit(&mut self, bit: &mut Bit, _: bool) -> bool {
        let bound = (self.range >> 16) * bit.no;
        let answer = self.offset >= bound;
        if answer {
            self.narrow(bound, self.range - bound)
        } else {
            self.narrow(0, bound)
        }
        bit.learn(answer);
        answer
    }

    fn uniform(&mut self, count: u32, _: u32) -> u32 {
        let part = self.range / count;
        let answer = (self.offset / part).min(count - 1);
        self.narrow(part * answer, part);
        answer
    }
}
