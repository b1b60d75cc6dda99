//! Words of memory that other threads change, while a world's thread waits for them in the ordinary way.
//!
//! Whose a word is shows by waiting: until every other thread that runs a world has made a step or come to
//! its end, as a lock of a static is not held for longer; and not at all where that has shown before in this
//! world. Where tasks have waited for words of their own at the same place in another one, these threads rest for a
//! moment instead, which is sooner known (`raw/rest.rs`). A thread that was given up, as its poll does not return or
//! would have ended the process, is waited for no more. Threads that the scenario has started are given time first,
//! as what they do is what is waited for, most often.
//!
//! Does not: take decisions, or leave a trace.

use super::helpers;
use super::world::World;
use crate::raw::shared::Home;
use cct_interpose::Word;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// How long other threads have at least to change a word. They hold locks that a scenario takes too for
/// far less.
pub(super) const WAIT: Duration = Duration::from_millis(10);
/// How long they have at most, in one go.
const WAIT_MAX: Duration = Duration::from_secs(1);

type Site = Location<'static>;

/// Places of operations after which tasks have waited for words of their own world, in any test of this process.
/// Which they are decides how it is found out whose a word is, and what it is if a thread that runs no world holds
/// it, which is given no time there. Not behind a lock, which might block.
static OWN: [AtomicPtr<Site>; 64] = [const { AtomicPtr::new(ptr::null_mut()) }; 64];

fn is_own(site: &'static Site) -> bool {
    let known = OWN.iter().map(|known| known.load(Ordering::Relaxed));
    known
        .take_while(|known| !known.is_null())
        .any(|known| ptr::eq(known, site))
}

fn remember_own(site: &'static Site) {
    let site = ptr::from_ref(site).cast_mut();
    let mut places = OWN.iter();
    let _ = places.find(|place| {
        let order = Ordering::Relaxed;
        let put = place.compare_exchange(ptr::null_mut(), site, order, order);
        put.is_ok() || put == Err(site)
    });
}

/// Blocks the thread until another one changes the word. Returns whether one may have; if not, none
/// will.
///
/// Who waits is woken in turn, so whoever misses its turn for as long as all others make steps waits for
/// nobody else. The time grows until all of them had a chance to.
fn changed_by_others(word: Word) -> bool {
    let home = Home::here().expect("cct bug: a world without home");
    home.note_blocked(word.address());
    let mut wait = WAIT;
    let changed = loop {
        let others = home.others();
        if word.block_for(wait) {
            break true;
        }
        if wait >= WAIT_MAX || !others.iter().any(|other| other.may_hold(word.address())) {
            break false;
        }
        wait *= 2;
    };
    home.go_on();
    changed
}

/// All but a few steps take less.
const LONG: Duration = Duration::from_millis(2);
/// On a busy machine a thread in the middle of a step may come on so late.
const LATE: Duration = Duration::from_millis(200);

/// Who spins waits for no word that anyone knows of, and counts as one that holds none.
const SPINS: usize = usize::MAX;

impl World {
    /// Has every other thread that runs a world rest until this one makes a step: what they hold for a moment is
    /// free then. One that takes long is in a poll that does, and not waited for again.
    pub(super) fn let_others_rest(&self) {
        let home = Home::here().expect("cct bug: a world without home");
        // In the hands of the tables this thread waits as the system has it.
        self.with(|core, _| {
            home.end_turn();
            home.note_blocked(SPINS);
            home.take_turn();
            // A world that begins from here on sees the turn; one that began before may hold what is wanted by now.
            let others = home.others().into_iter();
            let (mut slow, others): (Vec<_>, Vec<_>) =
                others.partition(|other| core.helpers.is_slow(other));
            // What a scenario has captured is shared by those who run it.
            let (near, far) = others
                .into_iter()
                .partition(|other| home.shares_scenario(other));
            slow.extend(home.wait_for_rest(near, LATE));
            slow.extend(home.wait_for_rest(far, LONG));
            core.helpers.slow = slow;
            home.note_blocked(0);
        });
    }

    /// Blocks the thread until another one changes the word for which this task waits, for as long as one
    /// may. Returns whether one has.
    pub(super) fn is_changed_from_outside(
        &self,
        key: u32,
        word: Word,
        limit: Option<Duration>,
    ) -> bool {
        if self.changed_by_helpers(word, limit) {
            return true;
        }
        if self.is_asked() {
            return false;
        }
        if self.with(|core, _| core.waits.is_own(word)) {
            return false;
        }
        let site = self.with(|core, _| core.actions[key as usize].op.site);
        // What is static is shared with other worlds.
        let is_static = word.is_static();
        let at_own_place = is_own(site) && !is_static;
        let by_others = match limit {
            None if at_own_place => {
                self.let_others_rest();
                word.has_changed()
            }
            None => changed_by_others(word),
            // Waits with a limit are not for locks, which others are known to hold for a moment only.
            Some(_) => !at_own_place && word.block_for(WAIT),
        };
        if by_others {
            return true;
        }
        // A wait with a limit may not have looked at all.
        if !is_static && limit.is_none() {
            self.with(|core, _| core.waits.remember_own(word));
        }
        remember_own(site);
        false
    }

    /// Whether a thread waits for this one to do something.
    fn is_asked(&self) -> bool {
        self.open.get() && Home::here().is_some_and(Home::has_jobs)
    }

    /// Blocks the thread until one that the scenario has started changes the word, for a while. Returns
    /// whether one has.
    fn changed_by_helpers(&self, word: Word, limit: Option<Duration>) -> bool {
        let mut waited = Duration::ZERO;
        while limit.is_none_or(|limit| waited < limit)
            && !self.is_asked()
            && self.with(|core, _| core.helpers.may_act())
        {
            if self.block_for_a_look(word) {
                self.with(|core, _| core.helpers.have_acted());
                return true;
            }
            self.with(|core, _| core.helpers.look());
            waited += helpers::LOOK;
        }
        false
    }

    /// Blocks the thread until the word changes, for a while. Who has to come in before that does so. Returns whether it has.
    fn block_for_a_look(&self, word: Word) -> bool {
        let Some(home) = Home::here().filter(|home| self.open.get() && home.has_visitors()) else {
            return word.block_for(helpers::LOOK);
        };
        let mut changed = false;
        home.aside(|| changed = word.block_for(helpers::LOOK));
        changed
    }
}
