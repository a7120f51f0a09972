import { card } from './card.js';
import { chart } from './chart.js';
import { choices } from './choices.js';
import { code } from './code.js';
import { form } from './form.js';
import { image } from './image.js';
import { list } from './list.js';
import { progress } from './progress.js';
import { components, registerComponent } from './registry.js';
import { stackOf } from './stack.js';
import { stat } from './stat.js';
import { table } from './table.js';
import { timeline } from './timeline.js';

export type { Component, ComponentContext, Hooks, Part } from './component.js';
export { Growing } from './growing.js';
export { mount } from './host.js';
export { registerComponent } from './registry.js';
export { settle } from './settle.js';
export { fromToolPart, withState } from './tool-part.js';

const display = [card, stat, table, chart, list, image, progress, timeline, code];
for (const one of [...display, form, choices, stackOf(display)])
  // A component that the page has registered under a name stays.
  if (!components.has(one.name)) registerComponent(one.name, one);
