// The hooks of each version of @ai-sdk/react, in a component without output.

import * as react5 from 'react5';
import * as react6 from 'react6';
import * as react7 from 'react7';
import { createElement } from 'react';
import { create } from 'react-test-renderer';

import { until } from '../lib/quickstart.mjs';

export const hooks = { v5: react5, v6: react6, v7: react7 };

/** Renders every state like a browser. React's `act` would render only the last one. */
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

/** Renders a hook. `now()` returns its last value, and `seen` contains all values. */
export async function renderHook(use) {
  const seen = [];
  const root = quietly(() => create(createElement(() => (seen.push(use()), null))));
  await until(() => seen.length > 0, 'the hook is rendered');
  return { seen, now: () => seen.at(-1), unmount: () => root.unmount() };
}

/** Runs a function without the renderer's warning, which recommends tests in a browser. */
function quietly(what) {
  const { error } = console;
  console.error = () => {};
  try {
    return what();
  } finally {
    console.error = error;
  }
}
