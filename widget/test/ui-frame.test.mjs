import assert from 'node:assert/strict';
import { test } from 'node:test';
import { perFrame } from '../out/ui/frame.js';

/** Runs `use` with a clock that moves by hand, in frames of 10 ms. The browser takes `paintMs` after each. */
function clocked(use, paintMs = 0) {
  const names = ['performance', 'requestAnimationFrame', 'cancelAnimationFrame', 'setTimeout', 'clearTimeout'];
  const real = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  let now = 0;
  let last = 0;
  const frames = new Map();
  const timers = new Map();
  const stub = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  stub('performance', { now: () => now });
  stub('requestAnimationFrame', (run) => frames.set((last += 1), run) && last);
  stub('cancelAnimationFrame', (id) => frames.delete(id));
  stub('setTimeout', (run, ms = 0) => timers.set((last += 1), [now + ms, run]) && last);
  stub('clearTimeout', (id) => timers.delete(id));
  const runTimers = () => {
    for (const [id, [at, run]] of timers) if (at <= now && timers.delete(id)) run();
  };
  const pass = (ms) => {
    for (const end = now + ms; now < end; ) {
      now += 10;
      runTimers();
      for (const [id, run] of [...frames]) {
        if (!frames.delete(id)) continue;
        run(now);
        now += paintMs;
      }
      runTimers();
    }
  };
  try {
    use(pass, (ms) => (now += ms));
  } finally {
    names.forEach((name, index) => real[index] ? Object.defineProperty(globalThis, name, real[index]) : delete globalThis[name]);
  }
}

/**
 * Returns the number of drawings of a second in which every frame requests one, if each takes `cost` milliseconds and its
 * painting `paintMs`.
 */
function drawings(afterMs, cost, paintMs = 0) {
  let drawn = 0;
  clocked((pass, spend) => {
    const frame = perFrame(() => {
      drawn += 1;
      spend(cost);
    });
    for (let at = 0; at < 100; at += 1) {
      frame.request(afterMs);
      pass(10);
    }
  }, paintMs);
  return drawn;
}

test('drawings are in each frame, or spaced', () => {
  assert.equal(drawings(0, 0), 100);
  assert.equal(drawings(45, 0), 20);
});

test('slow drawings are further apart, up to a limit', () => {
  const [usual, slow, slowest] = [1, 3, 100].map((cost) => drawings(45, cost));
  assert.deepEqual([usual, slow, slowest], [20, 12, 7]);
  assert.equal(drawings(45, 1, 2), slow, 'the time of the painting counts');
});

test('a request for the next frame does not wait, and a cancelled one is not drawn', () => {
  clocked((pass) => {
    let drawn = 0;
    const frame = perFrame(() => (drawn += 1));
    frame.request(45);
    pass(10);
    frame.request(45);
    pass(10);
    assert.equal(drawn, 1);
    frame.request();
    pass(10);
    assert.equal(drawn, 2);
    frame.request(45);
    frame.cancel();
    pass(100);
    assert.equal(drawn, 2);
  });
});
