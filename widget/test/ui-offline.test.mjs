// What the user sees while the assistant cannot be reached, or refuses a request.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answers, fails, says, serve } from '../testing/chat.mjs';
import { openBrowser } from '../testing/page.mjs';
import { openWidget } from '../testing/widget-page.mjs';

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser?.close());

/** Opens a page with the widget and an assistant that answers with `turns`. The page logs each request that fails. */
async function opened(t, turns, { prepare, isStored = false, attributes = '' } = {}) {
  const server = Object.assign(await serve(...turns), { isStored });
  const view = await openWidget(browser, { attributes: `mode="panel" ${attributes}`, target: new URL(server.api).origin, prepare });
  t.after(async () => {
    await view.close();
    await server.stop();
  });
  const ready = () => view.page.evaluate(() => document.querySelector('omniassist-chat').chat.ready);
  await ready();
  const ask = async (text) => {
    await view.input.fill(text);
    await view.input.press('Enter');
  };
  return { ...view, assistant: server, ask, ready, notice: view.part('notice'), said: view.part('messages') };
}

test('a request that is sent again shows why, and that it can be stopped', async (t) => {
  const { ask, notice, part, said } = await opened(t, [fails(503), says('Here it is.')]);
  await ask('Where is it?');
  await notice.getByText('No connection to the assistant. Trying again…').waitFor();
  assert.equal(await part('send-button').getAttribute('aria-label'), 'Stop');
  assert.equal(await part('retry-button').isVisible(), false);
  await said.getByText('Here it is.').waitFor();
  assert.equal(await notice.isVisible(), false);
});

test('a server with too many requests is called busy', async (t) => {
  const slow = fails(429, { 'content-type': 'application/json' }, '{"error":"Slow down."}');
  const { ask, notice, part } = await opened(t, [slow]);
  await ask('Where is it?');
  await notice.getByText('The assistant is busy. Trying again…').waitFor();
  await part('send-button').click();
  await notice.waitFor({ state: 'hidden' });
});

test('a browser without a network says so at once, and sends when it is connected again', async (t) => {
  const { ask, notice, page, said } = await opened(t, [says('Here it is.')]);
  await page.context().setOffline(true);
  t.after(() => page.context().setOffline(false));
  await notice.getByText('You are offline.').waitFor();
  await ask('Where is it?');
  await said.getByText('Where is it?').waitFor();
  await page.context().setOffline(false);
  await said.getByText('Here it is.').waitFor();
  assert.equal(await notice.isVisible(), false);
});

/** Returns a function that lets a page lose a module, as after an update of the server. */
const without = (name) => (page) => page.route(`**/assistant/${name}-*.js`, (route) => route.fulfill({ status: 404 }));

test('after an update of the server a page says that it must be loaded again, and keeps the question', async (t) => {
  const { ask, input, notice, page, ready, said } = await opened(t, [says('Here it is.')], { prepare: without('client') });
  await ask('Where is it?');
  await notice.getByText('There is a newer version of the assistant.').waitFor();
  assert.equal(await input.inputValue(), 'Where is it?');
  await page.unrouteAll();
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
  await ready();
  await page.waitForFunction(() => document.querySelector('omniassist-chat').shadowRoot.querySelector('textarea').value);
  assert.equal(await input.inputValue(), 'Where is it?');
  await input.press('Enter');
  await said.getByText('Here it is.').waitFor();
  assert.equal(await input.inputValue(), '');
});

test('a part whose code is gone offers to load the page again', async (t) => {
  const source = { type: 'source-url', sourceId: 's1', url: 'https://shop.example/terms', title: 'Terms' };
  const { ask, said } = await opened(t, [answers(source)], { prepare: without('rare') });
  await ask('Which terms?');
  await said.getByText('There is a newer version of the assistant.').waitFor();
  await said.getByRole('button', { name: 'Reload' }).waitFor();
});

test('a list of chats that cannot be loaded without a connection can be tried again', async (t) => {
  const { page, part } = await opened(t, []);
  await page.route('**/assistant/**', (route) => route.abort());
  await part('threads-button').click();
  await part('threads-pane').getByText('This could not be loaded.').waitFor();
  await page.unrouteAll();
  await part('threads-pane').getByRole('button', { name: 'Try again' }).click();
  await part('threads-pane').getByText('No chats yet.').waitFor();
});

test('a question whose file could not be sent stays in the field with the file, and is sent by the button', async (t) => {
  const prepare = (page) => page.route('**/files?*', (route) => route.abort());
  const { input, notice, page, part, said, assistant } = await opened(t, [says('A chart.')], { prepare, isStored: true, attributes: 'attachments' });
  const chosen = page.waitForEvent('filechooser');
  await part('attach-button').focus();
  await part('attach-button').click();
  await (await chosen).setFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
  await input.fill('What is it?');
  await input.press('Enter');
  await notice.getByText('The assistant cannot be reached.').waitFor();
  assert.deepEqual([await input.inputValue(), await part('file').count()], ['What is it?', 1]);
  await page.unrouteAll();
  assistant.files['/assistant/files?filename=a.txt'] = [JSON.stringify({ files: [{ type: 'file', url: '/assistant/files/1', mediaType: 'text/plain', filename: 'a.txt' }] }), 'application/json'];
  await part('retry-button').click();
  await said.getByText('A chart.').waitFor();
  assert.deepEqual([await input.inputValue(), await part('files').isVisible()], ['', false]);
  assert.deepEqual(assistant.posts[0].messages[0].parts.map(({ type }) => type), ['file', 'text']);
});

for (const [locale, sentence] of [
  ['en', 'The stored chat cannot be read. Your next message begins it anew.'],
  ['de', 'Der gespeicherte Chat ist nicht lesbar. Ihre nächste Nachricht beginnt ihn neu.'],
  ['es', 'El chat guardado no se puede leer. Su próximo mensaje lo empieza de nuevo.'],
  ['ar', 'تعذّرت قراءة المحادثة المحفوظة. رسالتك التالية تبدؤها من جديد.'],
])
  test(`a stored chat of another form is refused in the language of the page: ${locale}`, async (t) => {
    const prepare = (page) =>
      page.addInitScript(() => sessionStorage.setItem('hsafaChat_assistant.chat.c1', '{"messages":[{"role":"user","id":7}]}'));
    const { ask, notice, said } = await opened(t, [says('Here it is.')], { prepare, attributes: `chat="c1" locale="${locale}"` });
    await notice.getByText(sentence, { exact: true }).waitFor();
    await ask('Where is it?');
    await said.getByText('Here it is.').waitFor();
    assert.equal(await notice.isVisible(), false);
  });

test('a question that is too large goes back into the field with its file, and the next one is sent without it', async (t) => {
  const turns = [says('Hello.'), fails(413), says('Here it is.')];
  const { ask, assistant, input, notice, page, part, said } = await opened(t, turns, { attributes: 'attachments' });
  await ask('Good morning');
  await said.getByText('Hello.').waitFor();
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), part('attach-button').click()]);
  await chooser.setFiles({ name: 'plan.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF') });
  await ask('Where is it?');
  await notice.getByText('The message or its files are too large.').waitFor();
  await part('file').getByText('plan.pdf').waitFor();
  assert.equal(await input.inputValue(), 'Where is it?');
  assert.equal(await said.getByText('Where is it?').count(), 0);
  await part('remove-file').click();
  await input.press('Enter');
  await said.getByText('Here it is.').waitFor();
  const sent = assistant.posts.at(-1).messages.flatMap(({ parts }) => parts.map(({ type, text }) => text ?? type));
  assert.deepEqual(sent, ['Good morning', 'step-start', 'Hello.', 'Where is it?']);
});

const HTML_PAGE = [{ 'content-type': 'text/html' }, '<h1>No</h1>'];
const JSON_ERROR = [{ 'content-type': 'application/json' }, '{"error":{"message":"The sentence of the server."}}'];
const REFUSALS = {
  en: {
    401: 'You are not signed in any more. Sign in, then try again.',
    403: 'You are not allowed to do this.',
    404: 'The server answered with status 404.',
    413: 'The message or its files are too large.',
  },
  de: {
    401: 'Sie sind nicht mehr angemeldet. Melden Sie sich an und versuchen Sie es dann erneut.',
    403: 'Dafür fehlt Ihnen die Berechtigung.',
    404: 'Der Server hat mit dem Status 404 geantwortet.',
    413: 'Die Nachricht oder ihre Dateien sind zu groß.',
  },
  es: {
    401: 'Ya no tiene una sesión iniciada. Inicie sesión e inténtelo de nuevo.',
    403: 'No tiene permiso para hacer esto.',
    404: 'El servidor respondió con el estado 404.',
    413: 'El mensaje o sus archivos son demasiado grandes.',
  },
  ar: {
    401: 'لم تعد مسجّل الدخول. سجّل الدخول ثم حاول مرة أخرى.',
    403: 'ليس لديك إذن للقيام بذلك.',
    404: 'استجاب الخادم بالحالة 404.',
    413: 'الرسالة أو ملفاتها كبيرة جدًا.',
  },
};

for (const [locale, sentences] of Object.entries(REFUSALS)) {
  test(`a refusal says what to do in the language of the page: ${locale}`, async (t) => {
    const statuses = [403, 404, 413];
    const turns = statuses.map((status) => fails(status, ...HTML_PAGE));
    turns.push(fails(403, ...JSON_ERROR), fails(413, ...JSON_ERROR));
    const { ask, notice, part } = await opened(t, turns, { attributes: `locale="${locale}"` });
    for (const status of statuses) {
      await ask(`Question ${status}`);
      await notice.getByText(sentences[status], { exact: true }).waitFor();
      assert.equal(await part('retry-button').isVisible(), false);
    }
    await ask('Why?');
    await notice.getByText('The sentence of the server.', { exact: true }).waitFor();
    await ask('With a large file');
    await notice.getByText(sentences[413], { exact: true }).waitFor();
  });

  test(`a question after the end of a session is sent once more after the user has signed in: ${locale}`, async (t) => {
    const turns = [fails(401, ...HTML_PAGE), fails(401, ...JSON_ERROR), says('Here it is.')];
    const { ask, assistant, notice, page, part, said } = await opened(t, turns, { attributes: `locale="${locale}"` });
    const sent = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.headers().authorization));
    await ask('Where is it?');
    for (const tries of [1, 2]) {
      await notice.getByText(sentences[401], { exact: true }).waitFor();
      assert.equal(assistant.posts.length, tries);
      if (tries === 2) await page.evaluate(() => (document.querySelector('omniassist-chat').headers = { authorization: 'Bearer new' }));
      const posted = assistant.posted();
      await part('retry-button').click();
      await posted;
      if (tries === 1) await page.waitForFunction(() => document.querySelector('omniassist-chat').chat.status === 'error');
    }
    await said.getByText('Here it is.').waitFor();
    assert.equal(await notice.isVisible(), false);
    assert.deepEqual(sent, [undefined, undefined, 'Bearer new']);
    assert.deepEqual(assistant.posts[2].messages.map(({ parts }) => parts[0].text), ['Where is it?']);
    assert.equal(await said.getByText('Where is it?').count(), 1);
  });
}

test('a stored chat that is refused after the end of a session is loaded after the user has signed in', async (t) => {
  const prepare = (page) => page.route('**/assistant/threads/c1', (route) => route.fulfill({ status: 401 }));
  const { assistant, notice, page, part, said } = await opened(t, [], { prepare, isStored: true, attributes: 'chat="c1"' });
  await notice.getByText(REFUSALS.en[401], { exact: true }).waitFor();
  const messages = ['user', 'assistant'].map((role) => ({ id: role, role, parts: [{ type: 'text', text: `From the ${role}` }] }));
  await page.route('**/assistant/threads/c1/messages*', (route) => route.fulfill({ json: { messages, more: false } }));
  await page.route('**/assistant/threads/c1', (route) => route.fulfill({ json: { id: 'c1' } }));
  await part('retry-button').click();
  await said.getByText('From the assistant').waitFor();
  assert.equal(await notice.isVisible(), false);
  assert.equal(assistant.posts.length, 0);
});

test('after the session has ended, a page that signs in is no answer of the assistant', async (t) => {
  const { ask, assistant, notice, page, said } = await opened(t, [fails(302, { location: '/login' }), says('Here it is.')]);
  assistant.files['/login'] = ['<h1>Please sign in</h1>', 'text/html'];
  await ask('Where is it?');
  await notice.getByText('You are not signed in any more. Sign in, then try again.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await said.getByText('Here it is.').waitFor();
});

for (const [locale, sentence, label] of [
  ['en', 'This chat belongs to another session. Start a new chat.', 'New chat'],
  ['de', 'Dieser Chat gehört zu einer anderen Sitzung. Beginnen Sie einen neuen Chat.', 'Neuer Chat'],
  ['es', 'Este chat pertenece a otra sesión. Empiece un chat nuevo.', 'Nuevo chat'],
  ['ar', 'هذه المحادثة تخص جلسة أخرى. ابدأ محادثة جديدة.', 'محادثة جديدة'],
])
  test(`a chat of another session offers a new chat in the language of the page: ${locale}`, async (t) => {
    const refusal = { code: 'seal_invalid', message: 'not written by this server at messages[1].parts[1]', path: 'messages[1].parts[1]' };
    const turns = [says('Hello.'), fails(400, { 'content-type': 'application/json' }, JSON.stringify({ error: refusal })), says('Here it is.')];
    const { ask, assistant, input, notice, said } = await opened(t, turns, { attributes: `locale="${locale}"` });
    await ask('Good morning');
    await said.getByText('Hello.').waitFor();
    await ask('Where is it?');
    await notice.getByText(sentence, { exact: true }).waitFor();
    await notice.getByRole('button', { name: label }).click();
    await notice.waitFor({ state: 'hidden' });
    assert.equal(await input.evaluate((field) => field.matches(':focus')), true);
    await ask('Where is it?');
    await said.getByText('Here it is.').waitFor();
    assert.equal(assistant.posts[2].messages.length, 1);
  });
