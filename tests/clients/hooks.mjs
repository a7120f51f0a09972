// The hooks of @ai-sdk/react, each version with its own, in a component that shows nothing.

import * as react5 from 'react5';
import * as react6 from 'react6';
import * as react7 from 'react7';
import { createElement } from 'react';
import { create } from 'react-test-renderer';

import { until } from '../lib/quickstart.mjs';

export const hooks = { v5: react5, v6: react6, v7: react7 };

/** Renders once for every state, as a browser does: React's `act` would show the last one only. */
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

/** Renders a hook. `now()` is what it gave last, `seen` everything it gave. */
export async function renderHook(use) {
  const seen = [];
  const root = quietly(() => create(createElement(() => (seen.push(use()), null))));
  await until(() => seen.length > 0, 'the hook is rendered');
  return { seen, now: () => seen.at(-1), unmount: () => root.unmount() };
}

/** The renderer says each time that pages are better tested in a browser, where these suites test them too. */
function quietly(what) {
  const { error } = console;
  console.error = () => {};
  try {
    return what();
  } finally {
    console.error = error;
  }
}
