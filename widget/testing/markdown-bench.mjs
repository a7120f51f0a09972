// Measures an answer that streams, and hostile texts. `node testing/markdown-bench.mjs [stream] [hostile]`. The rivals are
// measured if `npm ci` ran in `testing/bench`.

import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { frames, quantile } from './frames.mjs';
import { hostile } from './markdown-hostile.mjs';
import { openMarkdown } from './markdown-page.mjs';
import { SECTION } from './markdown-sample.mjs';

const SECONDS = 8;
const TOKENS = 200;
const wanted = process.argv.slice(2);
const hasRivals = existsSync(new URL('bench/node_modules', import.meta.url));

const START = SECTION.repeat(Math.ceil(20_000 / SECTION.length)).slice(0, 20_000);
const REST = SECTION.repeat(8);

/** Begins to show a text in the page. `window.grow` shows what has arrived of it by a time. */
function begin({ start, rest, rate, way }) {
  const node = document.createElement('div');
  root.replaceChildren(node);
  const show = ways[way](node);
  show(start, false);
  window.grow = (ms) => show(start + rest.slice(0, Math.floor((ms / 1_000) * rate) * 4), false);
  return new Promise((done) => setTimeout(done, 500));
}

async function streams() {
  const view = await openMarkdown({ entry: hasRivals ? 'bench/client.js' : 'markdown-client.js', policy: "default-src 'self'" });
  const session = await view.page.context().newCDPSession(view.page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await view.page.evaluate(() => {
    window.ways ??= {};
    ways.nothing = () => () => {};
    ways.ours = (node) => {
      const markdown = new MarkdownView(node);
      return (text, done) => markdown.set(text, done);
    };
  });
  const ways = await view.page.evaluate(() => Object.keys(ways).sort());
  for (const throttle of [1, 4]) {
    await session.send('Emulation.setCPUThrottlingRate', { rate: throttle });
    for (const way of ways) {
      const busy = async () => {
        const { metrics } = await session.send('Performance.getMetrics');
        return metrics.find(({ name }) => name === 'TaskDuration').value;
      };
      const from = await busy();
      const began = Date.now();
      await view.page.evaluate(begin, { start: START, rest: REST, rate: TOKENS, way });
      const { gaps, blocked } = await view.page.evaluate(frames, { seconds: SECONDS, each: 'grow' });
      const share = (100_000 * (await busy() - from)) / (Date.now() - began);
      console.log(
        `${throttle}x ${way.padEnd(18)} main thread ${share.toFixed(1)} %, ${gaps.length} frames, p95 gap ${quantile(gaps, 0.95).toFixed(1)} ms, blocking ${blocked.toFixed(0)} ms (load ${loadavg()[0].toFixed(1)})`,
      );
    }
  }
  await view.close();
}

async function attacks() {
  const view = await openMarkdown();
  const session = await view.page.context().newCDPSession(view.page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const time = async (name, size) => {
    const busy = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return 1_000 * metrics.find(({ name }) => name === 'TaskDuration').value;
    };
    let best = Infinity;
    for (let round = 0; round < 3; round++) {
      await view.page.evaluate(([name, size]) => (window.text = window.hostile(size)[name]), [name, size]);
      const from = await busy();
      await view.page.evaluate(() => new MarkdownView(document.createElement('div')).set(window.text, true));
      best = Math.min(best, (await busy()) - from);
    }
    return best;
  };
  const rows = [];
  for (const name of Object.keys(hostile(0))) rows.push([name, await time(name, 500_000), await time(name, 1_000_000)]);
  rows.sort((a, b) => b[2] - a[2]);
  for (const [name, half, full] of rows)
    console.log(`${full.toFixed(0).padStart(5)} ms, ${(full / half).toFixed(2)} times 0.5 MB: ${name}`);
  await view.close();
}

if (wanted.length === 0 || wanted.includes('stream')) await streams();
if (wanted.length === 0 || wanted.includes('hostile')) await attacks();
