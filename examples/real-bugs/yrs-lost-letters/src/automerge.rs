//! A shared text, by automerge.

use automerge::transaction::{CommitOptions, Transactable};
use automerge::{ActorId, AutoCommit, ObjId, ObjType, ROOT, ReadDoc};

pub(crate) struct Document {
    whole: AutoCommit,
    text: ObjId,
}

impl Document {
    /// All begin with the same change, which makes the text.
    pub(crate) fn new(who: usize) -> Self {
        let mut whole = AutoCommit::new().with_actor(ActorId::from([0]));
        let text = whole.put_object(ROOT, "text", ObjType::Text);
        let text = text.expect("the document is empty");
        whole.commit_with(CommitOptions::default().with_time(0));
        whole.set_actor(ActorId::from([who as u8 + 1]));
        Document { whole, text }
    }

    /// Puts a letter before all others. The change is for the others to apply.
    pub(crate) fn write_first(&mut self, letter: &str) -> Vec<u8> {
        let written = self.whole.splice_text(&self.text, 0, 0, letter);
        written.expect("the text exists");
        self.whole.save_incremental()
    }

    pub(crate) fn apply(&mut self, change: &[u8]) {
        let applied = self.whole.load_incremental(change);
        applied.expect("it makes sense, now or later");
    }

    pub(crate) fn text(&self) -> String {
        self.whole.text(&self.text).expect("the text exists")
    }
}
