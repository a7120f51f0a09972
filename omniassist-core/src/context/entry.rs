//! The bullets of a block. Messages are added one by one, and merged.

use std::collections::HashMap;

use super::form::Form;
use super::navigation::Navigation;
use super::write;

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

/// The key by which a later message finds its bullet. The map is never iterated, so its order has no effect.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Key<'a> {
    Form(&'a str),
    /// A form without a name, since the navigation with this number.
    Anonymous(usize),
    Line(String),
}

/// The bullets, oldest first. A bullet that moved to a later position leaves a gap.
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
            Entry::Line(line) => match self.take(Key::Line(line.clone())) {
                Some(slot) => Slot { count: slot.count + 1, ..slot },
                None => self.first(Entry::Line(line)),
            },
        };
        self.slots.push(Some(slot));
    }

    fn first(&mut self, entry: Entry<'a>) -> Slot<'a> {
        self.kept += 1;
        Slot { entry, count: 1 }
    }

    /// Removes the bullet with this key, and sets the key to the position of the next bullet.
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
    pub(super) fn write(&self, out: &mut String) {
        let mut previous = None;
        for slot in self.slots.iter().flatten() {
            out.push_str("- ");
            let start = out.len();
            match &slot.entry {
                Entry::Navigation(navigation) => {
                    navigation.write(out, previous);
                    previous = Some(navigation);
                }
                Entry::Form(form) => form.write(out),
                Entry::Line(line) => out.push_str(line),
            }
            write::cap_since(out, start, write::MAX_ENTRY_BYTES);
            if slot.count > 1 && !matches!(slot.entry, Entry::Form(_)) {
                out.push_str(" ×");
                write::push_display(out, slot.count);
            }
            out.push('\n');
        }
    }
}
