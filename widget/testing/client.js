// The script of the test page.

import * as omni from '/components.js';
const root = document.querySelector('#root');
const log = { set: [], dispatched: [], answers: [], errors: [], early: 0 };
window.omni = omni;
window.log = log;
window.show = (part, hooks = {}) => {
  window.mounted?.unmount();
  const full = { instanceId: part.component + '_1', status: 'complete', ...part };
  window.part = full;
  window.mounted = omni.mount(root, full, {
    setState: (patch) => log.set.push(patch),
    dispatch: (...action) => log.dispatched.push(action),
    respond: (output) => {
      log.answers.push(output);
    },
    componentError: ({ componentName, instanceId, error }) =>
      log.errors.push([componentName, instanceId, String(error)]),
    ...hooks,
  });
};
window.change = (part) => window.mounted.update((window.part = { ...window.part, ...part }));
window.frame = () => new Promise((next) => requestAnimationFrame(() => next()));
/** The nodes of what is shown, without the shadow roots. */
window.tree = (node = root) => {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  const attributes = [...node.attributes]
    .filter(({ name }) => name !== 'data-status')
    .map(({ name, value }) => name + '=' + value)
    .sort();
  const live = ['value', 'checked']
    .filter((name) => name in node && node.matches?.('input,select,textarea'))
    .map((name) => '.' + name + '=' + node[name]);
  return [node.localName, ...attributes, ...live, [...(node.shadowRoot ?? node).childNodes].map(window.tree)];
};
/** Runs `run` with frames that come when it calls `tick`, so that thousands of them take no time. */
window.ticking = (run) => {
  const real = requestAnimationFrame;
  const due = [];
  window.frames_requested = 0;
  window.requestAnimationFrame = (call) => {
    window.frames_requested++;
    return due.push(call);
  };
  window.tick = () => due.splice(0).forEach((call) => call(performance.now()));
  try {
    return run();
  } finally {
    window.tick();
    window.requestAnimationFrame = real;
  }
};
window.shadow = () => root.querySelector('[data-component]').shadowRoot;
/** Returns the text of what is shown. */
window.text = () => {
  const stage = root.querySelector('[data-component]');
  return [...((stage?.shadowRoot ?? stage)?.children ?? [])].map((node) => node.innerText).join('\n');
};
window.ready = true;
