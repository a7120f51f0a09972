//! The bullets of a block. Messages are added one by one, and merged.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use super::form::Form;
use super::navigation::Navigation;
use super::write::{self, Caps};

/// The content of one bullet.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    Navigation(Navigation<'a>),
    Form(Form<'a>),
    Line(String),
}

#[derive(Debug)]
struct Slot<'a> {
    entry: Entry<'a>,
    count: usize,
}

/// The key under which a later message finds its bullet. The map is never iterated, so its order has no effect.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    Form(&'a str),
    /// A form without a name, since the navigation with this number.
    Anonymous(usize),
    /// The hash of a line. The lines are compared too.
    Line(u64),
}

/// The bullets, oldest first. A bullet that moved to a later place leaves a gap.
#[derive(Debug, Default)]
pub(super) struct Entries<'a> {
    slots: Vec<Option<Slot<'a>>>,
    places: HashMap<Key<'a>, usize>,
    navigations: usize,
    kept: usize,
}

impl<'a> Entries<'a> {
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    pub(super) fn push(&mut self, entry: Entry<'a>) {
        let slot = match entry {
            Entry::Navigation(navigation) => return self.navigate(navigation),
            Entry::Form(form) => {
                let key = form.name().map_or(Key::Anonymous(self.navigations), Key::Form);
                match self.take(key) {
                    Some(Slot { entry: Entry::Form(mut earlier), count }) => {
                        earlier.update(form);
                        Slot { entry: Entry::Form(earlier), count: count + 1 }
                    }
                    _ => self.first(Entry::Form(form)),
                }
            }
            Entry::Line(line) => {
                let key = Key::Line(hash(&line));
                let known =
                    self.places.get(&key).and_then(|place| self.slots.get(*place)).and_then(Option::as_ref);
                let is_same =
                    known.is_some_and(|slot| matches!(&slot.entry, Entry::Line(earlier) if *earlier == line));
                if is_same && let Some(slot) = self.take(key) {
                    Slot { count: slot.count + 1, ..slot }
                } else {
                    self.places.insert(Key::Line(hash(&line)), self.slots.len());
                    self.first(Entry::Line(line))
                }
            }
        };
        self.slots.push(Some(slot));
    }

    fn first(&mut self, entry: Entry<'a>) -> Slot<'a> {
        self.kept += 1;
        Slot { entry, count: 1 }
    }

    /// Removes the bullet with this key, and sets the key to the place of the next bullet.
    fn take(&mut self, key: Key<'a>) -> Option<Slot<'a>> {
        let next = self.slots.len();
        let place = self.places.insert(key, next)?;
        self.slots.get_mut(place)?.take()
    }

    fn navigate(&mut self, mut navigation: Navigation<'a>) {
        if let Some(Some(Slot { entry: Entry::Navigation(last), count })) = self.slots.last_mut()
            && last.is_same_page(&navigation)
        {
            navigation.follow(last);
            *last = navigation;
            *count += 1;
            return;
        }
        self.navigations += 1;
        let slot = self.first(Entry::Navigation(navigation));
        self.slots.push(Some(slot));
    }

    /// Appends one line for each bullet.
    pub(super) fn write(&self, out: &mut String, caps: Caps) {
        let mut previous = None;
        for slot in self.slots.iter().flatten() {
            out.push_str("- ");
            let start = out.len();
            match &slot.entry {
                Entry::Navigation(navigation) => {
                    navigation.write(out, previous, caps);
                    previous = Some(navigation);
                }
                Entry::Form(form) => form.write(out, caps),
                Entry::Line(line) => out.push_str(line),
            }
            write::cap_since(out, start, caps.entry);
            if slot.count > 1 && !matches!(slot.entry, Entry::Form(_)) {
                out.push_str(" ×");
                write::push_display(out, slot.count);
            }
            out.push('\n');
        }
    }
}

fn hash(line: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(line.as_bytes());
    hasher.finish()
}
