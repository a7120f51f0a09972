// The two lines of the widget in an empty page under the strictest policy, in Firefox and WebKitGTK. A scripted model
// answers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { holdAfter, startScripted } from '../lib/fake-openai.mjs';
import { openai, startQuickstart, storedIn, until } from '../lib/quickstart.mjs';
import { shop, startProxy } from '../lib/shop.mjs';
import { openFirefox, openWebKit } from './webdriver.mjs';

const MARKDOWN = '# A title\n\nSome **bold** text.\n\n| Name | Sum |\n|---|---|\n| Ada | 12 |\n\nThe end.';
const LONG = Array.from({ length: 30 }, (_, number) => `word${number}`).join(' ');
const HALF = { text: 'Half of it', end: 'hang' };
const SALES = { title: 'Sales', columns: [{ label: 'Region' }], rows: [['North'], ['South']] };

/** Runs in the page: the text and the middle of each visible element, in shadow trees too. */
function find(selector) {
  const found = [];
  const search = (root) => {
    found.push(...root.querySelectorAll(selector));
    for (const { shadowRoot } of root.querySelectorAll('*')) if (shadowRoot) search(shadowRoot);
  };
  search(document);
  const places = found.map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return { text: element.innerText, x: x + width / 2, y: y + height / 2, width };
  });
  return places.filter(({ width }) => width > 0);
}

/** The page of an app in a browser. */
class View {
  #clicks = 0;
  constructor(browser, app) {
    Object.assign(this, { browser, app });
  }
  find = (selector) => this.browser.run(find, selector);
  texts = async (selector) => (await this.find(selector)).map(({ text }) => text.trim());
  /** Waits until the texts of the elements match. */
  async shows(selector, pattern) {
    let texts;
    await until(
      async () => pattern.test((texts = await this.texts(selector)).join('\n')),
      () => `${selector} shows ${pattern}, but ${JSON.stringify(texts)}`,
      20_000,
    );
  }
  /**
   * Waits until an element stands still, and clicks it. WebKitGTK counts two clicks at the same place within a second as a
   * double click, so successive clicks are a few pixels apart.
   */
  async press(selector) {
    let last;
    await until(async () => {
      const [place] = await this.find(selector);
      const isStill = place && last && place.x === last.x && place.y === last.y;
      last = place;
      return isStill;
    }, `${selector} stands still`);
    await this.browser.click({ ...last, x: last.x + (this.#clicks++ % 2 ? 4 : -4) });
  }
  async ask(question) {
    await this.press('[part~=composer] [part~=input]');
    await this.browser.type(question);
    await this.press('[part~=send-button]:not([data-busy])');
  }
  chat = (member) => this.browser.run((name) => document.querySelector('omniassist-chat').chat[name], member);
  ready = () => until(async () => (await this.chat('status')) === 'ready', 'the answer is complete', 20_000);
  /** Checks that nothing failed in the page, and that the policy blocked nothing. */
  async isClean() {
    assert.deepEqual(await this.browser.run(() => window.problems), []);
    assert.deepEqual(this.app.seen.filter(({ url }) => url === '/policy-reports'), []);
  }
}

const text = '[data-role=assistant] [data-part=text]';

for (const [name, open] of Object.entries({ Firefox: openFirefox, WebKitGTK: openWebKit })) {
  let app;
  let browser;
  let view;
  before(async () => {
    app = await startScripted(async (model) => {
      const server = await startQuickstart(openai('openai', model.baseUrl), { stored: true });
      const proxy = await startProxy(server.origin);
      Object.assign(proxy.pages, shop());
      return { ...server, ...proxy, stop: () => proxy.stop().finally(server.stop) };
    });
    browser = await open();
    view = new View(browser, app);
    await browser.open(app.origin);
    await view.press('[part~=launcher]');
  });
  after(async () => {
    await browser?.stop();
    await app?.stop();
  });
  const it = (what, run) => test(`${name}: ${what}`, { timeout: 60_000 }, run);

  it('an answer becomes elements while it arrives', async () => {
    let go;
    const held = new Promise((resolve) => (go = resolve));
    app.model.script({ text: MARKDOWN, hold: holdAfter('bold', () => held) });
    await view.ask('Show me everything');
    await view.shows(`${text} h1`, /^A title$/);
    assert.deepEqual(await view.texts(`${text} td`), [], 'the rest is still to come');
    go();
    await view.shows(`${text} td`, /^Ada\n12$/);
    assert.deepEqual(await view.texts(`${text} strong`), ['bold']);
    await view.shows(text, /The end\./);
    await view.ready();
    await view.isClean();
  });

  it('stop ends an answer', async () => {
    app.model.script(HALF);
    await view.ask('Tell me');
    await view.shows(text, /Half of it/);
    await view.press('[part~=send-button][data-busy]');
    await view.shows('[part=incomplete]', /This answer is incomplete\./);
    await until(() => app.model.requests[0].closedAt, 'the request to the model is closed');
    await view.isClean();
  });

  it('a component is shown, and a reload keeps the chat', async () => {
    app.model.script({ calls: [{ id: 'call_t', name: 'ui_table', args: SALES }] }, { text: 'There it is.' });
    await view.ask('Show the sales');
    await view.shows('tbody th', /^North\nSouth$/);
    await view.shows(text, /There it is\./);
    await view.ready();
    await view.isClean();
    const shown = await view.texts(text);
    await browser.reload();
    await view.press('[part~=launcher]');
    await view.shows('tbody th', /^North\nSouth$/);
    assert.deepEqual(await view.texts(text), shown);
    await view.isClean();
  });

  it('a server that is killed and started again ends with the stored message', async () => {
    app.model.script(HALF, { text: LONG });
    await view.ask('Count');
    await view.shows(text, /Half of it$/);
    await app.kill();
    await view.shows('[part=notice]', /./);
    await app.start();
    await view.shows(text, /word29/);
    await view.ready();
    const stored = await storedIn(app, await view.chat('chatId'));
    assert.deepEqual(stored.at(-1), ['assistant', LONG]);
    assert.equal((await view.texts(text)).at(-1), LONG);
    assert.deepEqual(await view.texts('[part=notice]'), []);
    await view.isClean();
  });
}
