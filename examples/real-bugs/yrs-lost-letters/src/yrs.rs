//! A shared text, by yrs.

use yrs::updates::decoder::Decode;
use yrs::{Doc, GetString, Text, Transact, Update};

pub(crate) struct Document(Doc);

impl Document {
    pub(crate) fn new(who: usize) -> Self {
        Document(Doc::with_client_id(who as u64 + 1))
    }

    /// Puts a letter before all others. The change is for the others to apply.
    pub(crate) fn write_first(&mut self, letter: &str) -> Vec<u8> {
        let text = self.0.get_or_insert_text("text");
        let mut change = self.0.transact_mut();
        text.insert(&mut change, 0, letter);
        change.encode_update_v1()
    }

    pub(crate) fn apply(&mut self, change: &[u8]) {
        let change = Update::decode_v1(change).expect("it was encoded");
        let applied = self.0.transact_mut().apply_update(change);
        applied.expect("it makes sense, now or later");
    }

    pub(crate) fn text(&self) -> String {
        let text = self.0.get_or_insert_text("text");
        text.get_string(&self.0.transact())
    }
}
