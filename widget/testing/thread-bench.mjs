// Measures the whole widget with an assistant that answers over HTTP: an answer that streams, a thread of 10,000 messages, and
// the memory after many answers. `node testing/thread-bench.mjs [stream] [long] [heap]`.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { frames, quantile } from './frames.mjs';
import { openBrowser } from './page.mjs';
import { SECTION } from './markdown-sample.mjs';
import { openWidget } from './widget-page.mjs';

const SECONDS = 8;
/** An answer that streams lasts for two measurements, and the time between. */
const STREAM_SECONDS = 2 * SECONDS + 2;
const TOKENS = 200;
const LENGTH = 20_000;
/** The time from a key to its release, in milliseconds. */
const KEY_MS = 25;
const START = SECTION.repeat(Math.ceil(LENGTH / SECTION.length)).slice(0, LENGTH);
const wanted = process.argv.slice(2);
const isWanted = (name) => wanted.length === 0 || wanted.includes(name);
const loaded = () => `(load ${loadavg()[0].toFixed(1)})`;

/** Serves an assistant. Each answer begins with `START`; that to "stream" goes on with tokens of four characters. */
async function assistant() {
  const event = (chunk) => `data: ${JSON.stringify(chunk)}\n\n`;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request.setEncoding('utf8')) body += piece;
    if (request.method !== 'POST') return response.writeHead(404).end();
    const delta = (text) => response.write(event({ type: 'text-delta', id: 't', delta: text }));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-store, no-transform', 'x-vercel-ai-ui-message-stream': 'v1' });
    response.write(event({ type: 'start' }) + event({ type: 'start-step' }) + event({ type: 'text-start', id: 't' }));
    delta(START);
    const end = () =>
      response.end(
        ['text-end', 'finish-step', 'finish'].map((type) => event(type === 'text-end' ? { type, id: 't' } : { type })).join(''),
      );
    if (!body.includes('"stream"')) return end();
    const total = TOKENS * STREAM_SECONDS;
    const rest = SECTION.repeat(Math.ceil((total * 4) / SECTION.length));
    let sent = 0;
    const begin = performance.now() + 1_000;
    const timer = setInterval(() => {
      const due = Math.floor(((performance.now() - begin) / 1_000) * TOKENS);
      for (; sent < due && sent < total; sent += 1) delta(rest.slice(sent * 4, sent * 4 + 4));
      if (sent < total) return;
      clearInterval(timer);
      end();
    }, 5);
    response.on('close', () => clearInterval(timer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

const ask = async (view, text) => {
  // Typed text has steps to undo, which the browser keeps: up to 1,000, with a node each.
  await view.input.evaluate((input, text) => {
    input.value = text;
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, text);
  await view.input.press('Enter');
};
const idle = (view) =>
  view.page.waitForFunction(() => document.querySelector('omniassist-chat').chat.status === 'ready', null, { timeout: 60_000 });

/**
 * Stops the report of each network event to the driver, as in a browser without open developer tools. The report of each
 * received piece takes a task of the main thread. Playwright has no public interface for this.
 */
const withoutNetworkEvents = (page) => page._connection.toImpl(page).delegate._mainFrameSession._client.send('Network.disable');

async function stream(browser, target) {
  for (const rate of [1, 4]) {
    const view = await openWidget(browser, { attributes: 'mode="panel" persist="none"', target });
    const session = await view.page.context().newCDPSession(view.page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    await session.send('Emulation.setCPUThrottlingRate', { rate });
    const busy = async () => {
      const { metrics } = await session.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration').value;
    };
    await withoutNetworkEvents(view.page);
    await ask(view, 'stream');
    await view.page.waitForFunction(
      (length) => document.querySelector('omniassist-chat').chat.messages.at(-1)?.parts.at(-1)?.text?.length > length,
      LENGTH,
      { timeout: 30_000 },
    );
    const from = await busy();
    const begin = performance.now();
    await delay(SECONDS * 1_000);
    const share = (100_000 * ((await busy()) - from)) / (performance.now() - begin);
    // The loop that counts frames takes a share of its own, so it begins after the other measurement.
    const { gaps, blocked } = await view.page.evaluate(frames, { seconds: SECONDS });
    console.log(
      `${rate}x widget: main thread ${share.toFixed(1)} %; ${gaps.length} frames, p95 gap ${quantile(gaps, 0.95).toFixed(1)} ms, blocking ${blocked.toFixed(0)} ms ${loaded()}`,
    );
    await view.close();
  }
}

async function long(browser) {
  const view = await openWidget(browser, { attributes: 'mode="panel"' });
  await view.input.waitFor();
  const opened = await view.page.evaluate(async () => {
    const messages = Array.from({ length: 10_000 }, (_, at) => ({
      id: `m${at}`,
      role: at % 2 ? 'assistant' : 'user',
      parts: [{ type: 'text', text: `Message ${at}. ${'Some **words** of an answer. '.repeat(at % 7)}` }],
    }));
    const begin = performance.now();
    window.chat.change({ chatId: 'long', messages });
    await new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next)));
    return performance.now() - begin;
  });
  await view.input.click();
  await view.page.evaluate(() => {
    window.delays = [];
    document.querySelector('omniassist-chat').addEventListener('keydown', ({ timeStamp }) =>
      requestAnimationFrame(() => setTimeout(() => window.delays.push(performance.now() - timeStamp))),
    );
  });
  // Faster than people type. Without a pause, the keys delay the timers that measure them.
  for (const key of 'a question of usual length, which the user types. '.repeat(4))
    await view.page.keyboard.press(key, { delay: KEY_MS });
  await view.frame();
  const delays = await view.page.evaluate(() => window.delays);
  const nodes = await view.part('log').evaluate((log) => log.querySelectorAll('*').length);
  console.log(
    `10,000 messages: open ${opened.toFixed(0)} ms, ${nodes} nodes, ${delays.length} keys to the next frame p95 ${quantile(delays, 0.95).toFixed(1)} ms ${loaded()}`,
  );
  await view.close();
}

async function heap(browser, target) {
  for (const isNew of [false, true]) {
    const view = await openWidget(browser, { attributes: 'mode="panel" persist="none"', target });
    const session = await view.page.context().newCDPSession(view.page);
    await session.send('Performance.enable');
    const measured = [];
    // The browser keeps something of the first 300 answers that leave the page, and then no more.
    const count = isNew ? 500 : 100;
    for (let answer = 1; answer <= count; answer += 1) {
      await ask(view, `answer ${answer}`);
      await view.page.waitForFunction(
        (length) => document.querySelector('omniassist-chat').chat.messages.at(-1)?.parts.at(-1)?.text?.length === length,
        LENGTH,
      );
      await idle(view);
      if (isNew) {
        await view.page.evaluate(() => document.querySelector('omniassist-chat').newChat());
        await view.frame();
      }
      if (answer % (count / 5) !== 0) continue;
      await session.send('HeapProfiler.collectGarbage');
      const { metrics } = await session.send('Performance.getMetrics');
      const of = (wanted) => metrics.find(({ name }) => name === wanted).value;
      measured.push([of('JSHeapUsedSize') / 1_000, of('Nodes'), of('JSEventListeners')]);
    }
    const [[before], [after]] = measured.slice(-2);
    console.log(
      `${count} answers of 20 KB, ${isNew ? 'each in a new chat' : 'in one chat'}: ${((5 * (after - before)) / count).toFixed(2)} KB an answer of the last ${count / 5}; KB, nodes, listeners: ${measured.map((row) => row.map((value) => value.toFixed(0)).join('/')).join(', ')}`,
    );
    await view.close();
  }
}

const browser = await openBrowser();
const target = await assistant();
try {
  if (isWanted('stream')) await stream(browser, target);
  if (isWanted('long')) await long(browser);
  if (isWanted('heap')) await heap(browser, target);
} finally {
  await browser.close();
}
