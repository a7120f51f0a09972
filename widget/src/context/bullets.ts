// The bullets of a block. Messages are added one by one, and merged.

import { type Form, updateForm, writeForm } from './form.js';
import { type Navigation, page, writeNavigation } from './navigation.js';
import { bullet } from './write.js';

/** The content of one bullet. */
export interface Entry {
  navigation?: Navigation | undefined;
  form?: Form | undefined;
  line?: string;
}

/** Returns the lines of these entries. */
export function bullets(entries: readonly Entry[]): string[] {
  const slots = new Map<string, Entry & { count: number }>();
  let navigations = 0;
  let last: (Entry & { count: number }) | undefined;
  for (const entry of entries) {
    const { navigation, form, line } = entry;
    if (navigation && last?.navigation && page(last.navigation.to) === page(navigation.to)) {
      // Consecutive navigations to one page keep their origin.
      last.navigation = { ...navigation, from: last.navigation.from };
      last.count++;
      continue;
    }
    if (navigation) navigations++;
    // A form without a name is the same form until the next navigation.
    const key = navigation ? `n${navigations}` : form ? (form.name ? `f${form.name}` : `a${navigations}`) : `l${line}`;
    const earlier = slots.get(key);
    if (form && earlier?.form) updateForm(earlier.form, form);
    last = earlier ?? { ...entry, count: 0 };
    last.count++;
    // Moves it to the end.
    slots.delete(key);
    slots.set(key, last);
  }
  let previous: Navigation | undefined;
  return Array.from(slots.values(), ({ navigation, form, line, count }) => {
    const shown = navigation ? writeNavigation(navigation, previous) : form ? writeForm(form) : line!;
    previous = navigation ?? previous;
    return `${bullet(shown)}${count > 1 && !form ? ` ×${count}` : ''}\n`;
  });
}
