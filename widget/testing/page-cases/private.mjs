// What the assistant neither reads nor fills.

import assert from 'node:assert/strict';
import { add, suite } from '../page-tools.mjs';

const start = (view, options = { fill: true, discover: true, point: true }) =>
  view.page.evaluate(async (options) => void (await window.page.tools(options)), options);
const said = async (view) => JSON.stringify(await view.call('discover_page', { whole_page: true }));
const planted = async (view) => (await said(view)).match(/planted-\d+/g) ?? [];
const field = (name, attributes = {}) => ['input', { name, ...attributes }];

suite('plain', (test) => {
  test('a secret that only one of several texts of a field tells is not read', async (view) => {
    await start(view);
    const long = 'x'.repeat(90);
    await add(
      view,
      field('a1', { 'aria-label': 'Value', title: 'Your PIN', value: 'planted-1' }),
      field('a2', { title: 'Value', placeholder: `${long} password`, value: 'planted-2' }),
      ['label', { for: 'a3' }, 'Value'],
      ['label', { for: 'a3' }, 'CVV2'],
      field('a3', { id: 'a3', value: 'planted-3' }),
      ['p', { id: 'hint' }, 'Enter the verification code'],
      field('a4', { 'aria-label': 'Value', 'aria-describedby': 'hint', value: 'planted-4' }),
      [
        'fieldset',
        {},
        ['legend', {}, 'One-time code'],
        field('a5', { 'aria-label': 'First', value: 'planted-5' }),
      ],
      ['label', { for: 'a6' }, 'Recovery phrase'],
      ['div', { contenteditable: 'true', id: 'a6', 'aria-label': 'Words' }, 'planted-6'],
      ['span', { id: 'n1' }, 'Card'],
      ['span', { id: 'n2' }, 'number'],
      field('a7', { 'aria-labelledby': 'n1 n2', value: 'planted-7' }),
      ['label', {}, `${long} password`, field('a8', { value: 'planted-8' })],
      ['label', {}, 'Reason ', ['select', { name: 'reason' }, ['option', {}, 'Password reset']]],
    );
    assert.deepEqual(await planted(view), []);
    assert.match(await said(view), /"field":"reason","value":"Password reset"/, 'the choices are no names of a field');
  });

  test('a password stays private after a button has shown it', async (view) => {
    await start(view);
    await add(view, field('word', { type: 'password', value: 'planted-1' }), ['button', { type: 'button', id: 'show' }, 'Show']);
    await view.page.evaluate(() => {
      document.querySelector('#show').onclick = () => void (document.querySelector('[name=word]').type = 'text');
    });
    await view.page.locator('#show').click();
    assert.deepEqual(await planted(view), []);
    assert.match((await view.call('fill_form', { fields: { word: 'x' } })).error, /Only the user fills this field/);
  });

  test('a label in an ignored part of the page is not said', async (view) => {
    await start(view);
    const ignored = { 'data-assistant-ignore': true };
    await add(
      view,
      ['div', ignored, ['p', { id: 'name' }, 'planted-1'], ['label', { for: 'b2' }, 'planted-2']],
      field('b1', { 'aria-labelledby': 'name' }),
      field('b2', { id: 'b2' }),
      ['label', ignored, 'planted-3', field('b3')],
    );
    assert.deepEqual(await planted(view), []);
    assert.match(await said(view), /"field":"b2"/);
  });

  test('a field that the page hides is neither read nor filled', async (view) => {
    await start(view);
    await view.page.evaluate(() => void window.page.capture({ forms: true, delay: 0 }));
    await add(
      view,
      field('c1', { hidden: true, value: 'planted-1' }),
      ['div', { 'data-style': 'display: none' }, ['textarea', { name: 'c2' }, 'planted-2']],
      field('c3', { 'data-style': 'visibility: hidden', value: 'planted-3' }),
      ['label', {}, 'Drawn ', field('c4', { type: 'checkbox', 'data-style': 'display: none' })],
      ['label', { hidden: true }, 'Gone ', field('c5', { type: 'checkbox' })],
      ['div', { contenteditable: 'FALSE', id: 'c6', 'data-style': 'height: 1em' }, 'planted-6'],
    );
    await view.page.evaluate(() => {
      // The policy of the page forbids styles in attributes.
      for (const element of document.querySelectorAll('[data-style]')) element.style.cssText = element.dataset.style;
    });
    await view.page.getByLabel('Subject').fill('typed');
    assert.doesNotMatch(JSON.stringify([await view.context(), await said(view)]), /planted/);
    for (const name of ['c1', 'c2', 'c3', 'c5'])
      assert.match((await view.call('fill_form', { fields: { [name]: '1' } })).error, /Only the user fills this field/, name);
    assert.match((await view.call('fill_form', { fields: { c6: 'x' } })).error, /There is no such field/);
    assert.deepEqual((await view.call('fill_form', { fields: { c4: 'true' } })).filled, { c4: true });
  });

  test('an element that is hidden, inert or ignored by the time of a click is not clicked', async (view) => {
    await start(view);
    const clicked = (how, back) =>
      view.page.evaluate(
        async ([how, back]) => {
          const element = document.querySelector('#open-details');
          const answer = window.call('point_at', { target: 'open-details', click: true });
          setTimeout(() => element.setAttribute(how, back), 20);
          const { error } = await answer;
          element.removeAttribute(how);
          return error;
        },
        [how, back],
      );
    for (const how of ['hidden', 'inert', 'data-assistant-ignore'])
      assert.match((await clicked(how, '')) ?? '', /Only the user clicks this element: it is hidden/, how);
    assert.deepEqual(await view.page.evaluate(() => window.clicks), []);
  });
});
