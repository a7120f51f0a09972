// A user with a keyboard only. At each stop the focus must be somewhere, and be seen.

import assert from 'node:assert/strict';

/** Describes what has the focus: its name, its part, and what shows that it has it. */
const describeFocus = () => {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(node);
  // The field for messages has its ring around the whole composer.
  const composer = node.matches('[part~=composer] textarea') && node.closest('[part~=composer]');
  const { top, bottom } = node.getBoundingClientRect();
  const label = node.labels?.[0]?.innerText;
  return {
    name: (node.getAttribute('aria-label') ?? label ?? node.innerText ?? '').replace(/\s+/g, ' ').trim(),
    part: node.getAttribute('part') ?? node.localName,
    isLost: node === document.body,
    isMarked: composer ? getComputedStyle(composer).boxShadow !== 'none' : outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2,
    isSeen: node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && bottom > 0 && top < innerHeight,
  };
};

/** Returns what has the focus. It fails if the focus is lost or cannot be seen. */
export async function stop({ page, frame }, passed = []) {
  await frame();
  const focus = await page.evaluate(describeFocus);
  assert.ok(!focus.isLost, `the focus is lost after ${passed.join(', ')}`);
  assert.ok(focus.isMarked && focus.isSeen, `the focus is not seen: ${JSON.stringify(focus)}`);
  return focus;
}

/** Presses a key until the focus is at `name`, a part or a label. Returns what has the focus. */
export async function go(view, key, name) {
  const passed = [];
  for (let count = 0; count < 60; count += 1) {
    await view.page.keyboard.press(key);
    const focus = await stop(view, passed);
    if (name instanceof RegExp ? name.test(focus.name) : focus.part.split(' ').includes(name)) return focus;
    passed.push(focus.name || focus.part);
  }
  return assert.fail(`${key} does not reach ${name}: ${passed.join(', ')}`);
}
