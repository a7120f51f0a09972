import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { partsSuite } from '../testing/parts-page.mjs';

const test = partsSuite();

const LANGUAGES = ['en', 'de', 'es', 'ar'];
const textsOf = (view, locale) => view.page.evaluate((locale) => window.textsFor(locale), locale);
const valuesOf = (text) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
const formsOf = (text) => text.split('|').map((form) => /^(\w+):/.exec(form)?.[1]);

/** The texts by their names, those of the components and agents included. */
const flat = ({ components, agents, ...texts }) =>
  Object.fromEntries(
    Object.entries({ texts, components, agents }).flatMap(([group, named]) =>
      Object.entries(named).map(([name, text]) => [`${group}.${name}`, text]),
    ),
  );

test('each language has all texts, with their values and plural forms', async (view) => {
  const english = flat(await textsOf(view, 'en'));
  for (const locale of LANGUAGES.slice(1)) {
    const texts = flat(await textsOf(view, locale));
    const { chat, ...groups } = JSON.parse(await readFile(new URL(`../src/i18n/${locale}.json`, import.meta.url)));
    assert.deepEqual(texts, flat({ ...chat, ...groups }), locale);
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(english).sort(), locale);
    for (const [name, text] of Object.entries(texts)) {
      assert.ok(text.trim(), `${locale}: ${name}`);
      const original = english[name];
      // A text that is the same for all numbers has one form.
      if (!text.includes('|')) {
        assert.deepEqual(valuesOf(text), valuesOf(original), `${locale}: ${name}`);
        continue;
      }
      // The form `other` is that of each category without one.
      const forms = formsOf(text);
      const { pluralCategories } = new Intl.PluralRules(locale).resolvedOptions();
      assert.ok(forms.includes('one') && forms.includes('other'), `${locale}: ${name}`);
      assert.deepEqual(forms.filter((form) => !pluralCategories.includes(form)), [], `${locale}: ${name}`);
    }
  }
});

test('few texts are the same in two languages', async (view) => {
  const english = await textsOf(view, 'en');
  for (const locale of ['de', 'es', 'ar']) {
    const texts = await textsOf(view, locale);
    const same = Object.keys(english).filter((name) => texts[name] === english[name]);
    assert.ok(same.length <= 5, `${locale}: ${same}`);
  }
});

test('a language without texts is English, and only some are written from right to left', async (view) => {
  assert.equal((await textsOf(view, 'fr-FR')).send, 'Send');
  assert.equal((await textsOf(view, 'constructor')).send, 'Send');
  assert.equal((await textsOf(view, 'de-AT')).send, 'Senden');
  const directions = await view.page.evaluate(() => ['en', 'de-CH', 'ar-EG', 'he', 'arn'].map(window.directionOf));
  assert.deepEqual(directions, ['ltr', 'ltr', 'rtl', 'rtl', 'ltr']);
});

test('numbers choose the plural form, in the digits of the language', async (view) => {
  const sources = (count) => Array.from({ length: count }, (_, at) => ({ type: 'source-url', sourceId: `${at}`, url: `https://a.example/${at}` }));
  const shown = async (locale, count) => {
    await view.open({ messages: [{ id: 'a', role: 'assistant', parts: sources(count) }], locale });
    return view.root.locator('[part~=sources] > p').innerText();
  };
  assert.equal(await shown('en', 1), '1 source');
  assert.equal(await shown('en', 2), '2 sources');
  assert.equal(await shown('de', 2), '2 Quellen');
  assert.deepEqual([await shown('ar', 1), await shown('ar', 2)], ['مصدر واحد', 'مصدران']);
  assert.match(await shown('ar-EG', 5), /^٥ مصادر$/);
});

test('Arabic turns the page around, and the components with it', async (view) => {
  const part = { type: 'tool-ui_form', toolCallId: 'u1', state: 'input-available' };
  part.input = { title: 'العنوان', fields: [{ name: 'city', label: 'المدينة', kind: 'text' }] };
  await view.open({ messages: [{ id: 'a', role: 'assistant', parts: [part] }], locale: 'ar' });
  assert.equal(await view.page.evaluate(() => getComputedStyle(window.views[0].node).direction), 'rtl');
  await view.root.getByRole('button', { name: 'إرسال' }).waitFor();
});
