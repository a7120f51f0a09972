// The quickstart's page in headless Chromium, watched: what it logs, what it asks for, and how it looks.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const OUT = fileURLToPath(new URL('./out/', import.meta.url));

// Without these Chromium asks its maker's servers for updates and settings at every start.
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** `hosts`: names that are to be found at an address, as in `MAP evil.test 127.0.0.1`. */
export async function openBrowser(hosts = '') {
  return chromium.launch({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    // The sandbox of Chromium refuses to run as root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: hosts ? [...QUIET, `--host-resolver-rules=${hosts}`] : QUIET,
  });
}

/**
 * Starts an app and a browser for the tests of one file. Gives the function that adds a test: each has a page of its own,
 * which must have stayed clean.
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
  return (name, run) =>
    test(name, { timeout: 60_000 }, async () => {
      const view = await openPage(browser, app);
      try {
        await run(view, app);
      } catch (error) {
        await view.screenshot(`failed-${name.replace(/\W+/g, '-')}`);
        throw error;
      }
      await view.close();
    });
}

/** Opens the page of an app in a browser context of its own. `ms`: how long an answer may take. */
export async function openPage(browser, app, ms = 15_000) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
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
  await page.goto(app.origin);

  const answers = page.locator('[data-role=assistant]');
  return {
    page,
    /** The bodies that the page posted to the assistant. */
    runs,
    /** The paths that it posted to below the assistant's. */
    stops,
    /** What it logged that it should not. */
    problems,
    answer: () => answers.last(),
    answers,
    tool: (name) => answers.last().locator(`[data-tool-name="${name}"]`),
    async type(question) {
      await page.fill('#chat-input', question);
      await page.click('#chat-send');
    },
    /** Waits until the run is over, one way or another. */
    async settled() {
      await page.waitForFunction(() => ['ready', 'error'].includes(document.querySelector('#chat').dataset.status));
    },
    async ask(question) {
      await this.type(question);
      await this.settled();
      assert.equal(await page.getAttribute('#chat', 'data-status'), 'ready', await page.innerText('#chat-error'));
    },
    async screenshot(name) {
      await mkdir(OUT, { recursive: true });
      await page.screenshot({ path: `${OUT}${name}.png` });
    },
    /** Closes the page; fails if it logged an error or asked anyone but its own server. */
    async close() {
      await context.close();
      assert.deepEqual(problems, [], 'the page logs no error');
      assert.deepEqual(strangers, [], 'no request leaves the origin');
    },
  };
}

/** The text that the assistant wrote: neither reasoning nor what the tools show. */
export const prose = async (answer) => (await answer.locator('[data-part=text]').allInnerTexts()).join('\n');
