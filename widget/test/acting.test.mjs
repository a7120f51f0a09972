import assert from 'node:assert/strict';
import { samples, variants } from '../testing/samples.mjs';
import { suite } from '../testing/page.mjs';

const test = suite();

const firstCells = (view) => view.root.locator('tbody th').allInnerTexts();

test('a table is sorted by its headers, by number, date and text', async (view) => {
  await view.show({ component: 'table', props: samples.table });
  const orders = view.root.getByRole('columnheader', { name: 'Orders' });
  const turn = async () => {
    await orders.getByRole('button').click();
    await view.settle();
    return [await orders.getAttribute('aria-sort'), await firstCells(view)];
  };
  assert.deepEqual(await turn(), ['ascending', ['South', 'West', 'North', 'East']]);
  assert.deepEqual(
    await turn(),
    ['descending', ['North', 'West', 'South', 'East']],
    'an empty cell comes last both times',
  );
  assert.deepEqual(await turn(), ['none', ['North', 'South', 'East', 'West']]);
  await view.root.getByRole('button', { name: 'Last order' }).press('Enter');
  await view.settle();
  assert.deepEqual(await firstCells(view), ['East', 'West', 'North', 'South']);
  assert.deepEqual((await view.log()).set, [
    { sort: { column: 2, descending: false } },
    { sort: { column: 2, descending: true } },
    { sort: null },
    { sort: { column: 3, descending: false } },
  ]);
});

test('numbers that are texts are sorted by their value, before other texts', async (view) => {
  const columns = [{ label: 'Item' }, { label: 'Price', kind: 'number' }];
  const rows = ['1.25', '1.5', '$3', '-2', 10, '-10', '', '9.5'].map((price, index) => [`r${index}`, price]);
  await view.show({ component: 'table', props: { columns, rows } });
  const prices = () => view.root.locator('tbody td').allInnerTexts();
  await view.root.getByRole('button', { name: 'Price' }).click();
  await view.settle();
  assert.deepEqual(await prices(), ['-10', '-2', '1.25', '1.5', '9.5', '10', '$3', '']);
});

test('a complete column of numbers has the same number of decimals in each cell', async (view) => {
  const columns = [{ label: 'Item' }, { label: 'Price', kind: 'number' }, { label: 'Year' }];
  const rows = [['Pen', 1234.5, 2026], ['Cup', 20, 1999], ['Bag', 7.25, 2001], ['Box', null, 2002], ['Set', 1e-7, 2003]];
  const text = JSON.stringify({ columns, rows });
  const prices = () => view.root.locator('tbody td:nth-of-type(1)').allInnerTexts();
  await view.show({ component: 'table', props: text.slice(0, -2), status: 'streaming' });
  assert.deepEqual((await prices()).slice(0, 4), ['1,234.5', '20', '7.25', '–']);
  await view.change({ props: text, status: 'complete' });
  assert.deepEqual(await prices(), ['1,234.50', '20.00', '7.25', '–', '0.0000001']);
  assert.equal(await view.root.locator('tbody td:nth-of-type(2)').first().innerText(), '2026');
});

test('ticked rows are state, which neither properties nor sorting change', async (view) => {
  const text = JSON.stringify({ selectable: true, ...samples.table });
  await view.show({
    component: 'table',
    props: text.slice(0, -40),
    status: 'streaming',
    state: { selected: ['South'] },
  });
  const ticked = async () =>
    await view.root
      .locator('tbody input')
      .evaluateAll((boxes) => boxes.filter((box) => box.checked).map((box) => box.getAttribute('aria-label')));
  await view.root.getByLabel('Select North').check();
  await view.change({ props: text, status: 'complete' });
  assert.deepEqual(await ticked(), ['Select North', 'Select South']);
  assert.deepEqual((await view.log()).set, [{ selected: ['South', 'North'] }]);
  assert.match(await view.text(), /2 selected/);
  await view.root.getByRole('button', { name: 'Region' }).click();
  await view.settle();
  assert.deepEqual(await ticked(), ['Select North', 'Select South']);
  // The page repeats the state that it had, as React does, then it has a newer one.
  await view.change({ state: { selected: ['South'] } });
  assert.deepEqual(await ticked(), ['Select North', 'Select South']);
  await view.change({ state: { selected: ['West'] } });
  assert.deepEqual(await ticked(), ['Select West']);
  // Two ticks in one frame are both kept.
  await view.page.evaluate(() => {
    for (const box of window.shadow().querySelectorAll('tbody input')) if (!box.checked) box.click();
  });
  await view.settle();
  assert.equal((await ticked()).length, 4);
  await view.root.getByLabel('Select all').uncheck();
  await view.settle();
  assert.deepEqual(await ticked(), []);
});

test('rows with the same first cell, or an empty one, are ticked each by itself', async (view) => {
  const props = { selectable: true, columns: [{ label: 'Day' }], rows: [['Mon'], ['Mon'], [null], ['']] };
  const boxes = view.root.locator('tbody input');
  await view.show({ component: 'table', props });
  await boxes.nth(1).check();
  await boxes.nth(2).check();
  await view.settle();
  assert.deepEqual(await boxes.evaluateAll((all) => all.map((box) => box.checked)), [false, true, true, false]);
  assert.equal(await view.root.getByLabel('Select Row 3').isChecked(), true);
  assert.match(await view.text(), /2 selected/);
  assert.deepEqual((await view.log()).set.at(-1), { selected: ['Mon #2', '#3'] });
});

test('a stored state that is no list of rows is replaced by the first tick', async (view) => {
  const props = { selectable: true, columns: [{ label: 'Day' }], rows: [['Mon'], ['Tue']] };
  await view.show({ component: 'table', props, state: { selected: 'Mon', sort: 'up' } });
  await view.root.getByLabel('Select Tue').check();
  assert.deepEqual((await view.log()).set, [{ selected: ['Tue'] }]);
});

test('a table is copied as CSV in the order shown, and no cell is a formula', async (view) => {
  const rows = [
    ['=HYPERLINK("http://evil.example")', 2],
    ['a "quoted", one', 1],
    ['-5', null],
    ["tab\t=cmd|' /C calc'!A0", true],
    ['line\r\n=IMAGE(A1)', 3],
    ['\n=1+1', 4],
  ];
  await view.show({
    component: 'table',
    props: { columns: [{ label: 'Name' }, { label: 'Sum', kind: 'number' }], rows },
  });
  await view.root.getByRole('button', { name: 'Sum' }).click();
  await view.root.getByRole('button', { name: 'Copy as CSV' }).click();
  await view.root.getByText('Copied').waitFor();
  const copied = await view.page.evaluate(() => navigator.clipboard.readText());
  assert.equal(
    copied,
    [
      'Name,Sum',
      '"a ""quoted"", one",1',
      '"\'=HYPERLINK(""http://evil.example"")",2',
      'line =IMAGE(A1),3',
      "' =1+1,4",
      "tab =cmd|' /C calc'!A0,true",
      '-5,',
    ].join('\r\n'),
  );
  await view.page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
  await view.show({ component: 'code', props: samples.code });
  await view.root.getByRole('button', { name: 'Copy' }).focus();
  await view.page.keyboard.press('Enter');
  await view.root.getByText('Copied').waitFor();
  assert.equal(
    await view.page.evaluate(() => window.shadow().activeElement.textContent),
    'Copy',
    'the older way of copying keeps the focus',
  );
});

test('a chart has its numbers as a table behind it', async (view) => {
  await view.show({ component: 'chart', props: { ...samples.chart, series: [{ name: 'A', values: [1.5, null, 3] }] } });
  assert.equal(await view.root.getByRole('img').getAttribute('aria-label'), 'Bar chart: Visitors by weekday');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Enter');
  await view.root.locator('tbody tr').first().waitFor();
  assert.deepEqual((await view.root.locator('tr').allInnerTexts()).slice(0, 4), [
    '\tA',
    'Mon\t1.5 visits',
    'Tue\t–',
    'Wed\t3 visits',
  ]);
});

test('the numbers of an axis differ, also of small values and of close ones', async (view) => {
  const ticks = async (...values) => {
    await view.show({ component: 'chart', props: { kind: 'line', labels: [], series: [{ name: 'A', values }] } });
    return view.root.locator('[part=ticks] span').allInnerTexts();
  };
  assert.deepEqual(await ticks(0.001, 0.002, 0.004), ['0', '0.001', '0.002', '0.003', '0.004']);
  assert.deepEqual(await ticks(1_234_000, 1_234_300, 1_234_800), ['1.234M', '1.2342M', '1.2344M', '1.2346M', '1.2348M']);
  assert.deepEqual(await ticks(0, 2000), ['0', '500', '1K', '1.5K', '2K']);
  assert.deepEqual(await ticks(0, 4e-9), ['0', '0.000000001', '0.000000002', '0.000000003', '0.000000004']);
  assert.equal((await ticks(1e17, 1e17 + 64)).length > 0, true, 'ticks that no number can tell apart');
});

test('what a table and a pie do not show is counted, and a negative slice has its value', async (view) => {
  const columns = Array.from({ length: 52 }, (_, at) => ({ label: `c${at}` }));
  await view.show({ component: 'table', props: { columns, rows: [] } });
  assert.match(await view.text(), /2 more not shown/);
  const series = ['A', 'B'].map((name) => ({ name, values: [-5, 10] }));
  await view.show({ component: 'chart', props: { kind: 'pie', labels: ['a', 'b'], series } });
  assert.match(await view.text(), /1 more not shown/);
  assert.deepEqual(await view.root.locator('title').allTextContents(), ['a: -5 (0%)', 'b: 10 (100%)']);
});

test('a component is wide enough in a bubble that fits its content', async (view) => {
  await view.page.evaluate(() => {
    document.querySelector('#root').style.display = 'inline-block';
  });
  await view.show({ component: 'table', props: samples.table });
  assert.ok((await view.root.boundingBox()).width >= 288);
});

test('a form is filled in by keyboard', async (view) => {
  await view.show({ component: 'form', props: samples.form });
  const { keyboard } = view.page;
  assert.equal(await view.root.locator('[aria-invalid]').count(), 0);
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.type('x');
  await keyboard.press('Control+A');
  await keyboard.type('four');
  await keyboard.press('Enter');
  assert.deepEqual(await view.root.locator('[part=error][id]').allInnerTexts(), ['Enter a value.', 'Enter a number.']);
  assert.equal(await view.page.evaluate(() => window.shadow().activeElement.id), 'f0', 'the first fault has the focus');
  assert.equal(await view.root.getByLabel('Guests').getAttribute('aria-describedby'), 'f2e');
  assert.deepEqual((await view.log()).answers, []);
  await keyboard.type('Ada');
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.press('Control+A');
  await keyboard.type('3,5');
  assert.equal(await view.root.locator('[part=error][id]').count(), 0, 'a fault goes as soon as it is mended');
  // A date field has a stop for each of its parts, and one for its calendar.
  while ((await view.page.evaluate(() => window.shadow().activeElement.id)) !== 'f4') await keyboard.press('Tab');
  await keyboard.press('ArrowUp');
  await keyboard.press('Tab');
  await keyboard.type('Window seat');
  await keyboard.press('Tab');
  await keyboard.press('Space');
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  await view.root.getByText('Sent').waitFor();
  const [answer] = (await view.log()).answers;
  assert.deepEqual(answer.values, {
    name: 'Ada',
    email: 'ada@example.com',
    guests: 3.5,
    date: '2026-07-04',
    area: 'Inside',
    notes: 'Window seat',
    remind: false,
  });
  assert.match(await view.text(), /Guests\s+3.5/);
  assert.equal(
    await view.page.evaluate(() => window.shadow().activeElement.localName),
    'dl',
    'the answer has the focus',
  );
  assert.equal((await view.log()).answers.length, 1);
});

test('a number with a separator of thousands is not taken for a fraction', async (view) => {
  const props = { fields: [{ name: 'amount', label: 'Amount', kind: 'number' }] };
  for (const [locale, entered, wanted] of [
    ['en', '1,000', undefined], ['en', '12,500', undefined], ['en', '1,5', 1.5], ['en', '1.125', 1.125], ['en', '1000', 1000],
    ['de', '1.000', undefined], ['de', '1,125', 1.125], ['de', '1000,5', 1000.5], ['fr', '1.125', 1.125],
    ['en', '0,125', 0.125], ['en', '-1,000', undefined], ['en', '1,000,000', undefined], ['en', '0x10', undefined],
    ['fa', '1,234', undefined], ['fa', '۱۲', 12], ['fa', '۱٫۲۳۴', 1.234], ['fa', '۱٬۲۳۴', undefined],
    ['ar-EG', '1,234', undefined], ['ar', '-٣٫٥', -3.5], ['ja', '１２', 12], ['mr', '१.५', 1.5],
  ]) {
    await view.page.evaluate(([props, locale]) => {
      window.log.answers.length = 0;
      window.show({ component: 'form', props }, { locale, respond: async (output) => void window.log.answers.push(output) });
    }, [props, locale]);
    await view.root.getByLabel('Amount').fill(entered);
    await view.root.getByRole('button').click();
    await view.root.getByText(wanted === undefined ? /Enter a number/i : 'Sent').waitFor();
    const answers = await view.page.evaluate(() => window.log.answers);
    assert.deepEqual(answers, wanted === undefined ? [] : [{ values: { amount: wanted } }], `${locale} ${entered}`);
  }
});

test('a number that the model filled in is written as in the language of the page', async (view) => {
  for (const [locale, value, shown, wanted] of [
    ['de', '0.125', '0,125', 0.125], ['de', '12.500', '12,500', 12.5], ['es', '-1.250', '-1,250', -1.25],
    ['en', '12.500', '12.500', 12.5], ['fa', '12.500', '12.500', 12.5],
  ]) {
    await view.show({ component: 'form', props: { fields: [{ name: 'weight', label: 'Weight', kind: 'number', value }] } }, { locale });
    assert.equal(await view.root.getByLabel('Weight').inputValue(), shown);
    await view.root.getByRole('button').click();
    await view.root.getByText('Sent').waitFor();
    assert.deepEqual((await view.log()).answers.pop().values, { weight: wanted }, `${locale} ${value}`);
    await view.page.evaluate(() => (window.log.answers.length = 0));
  }
});

test('a date that is not complete is a fault, also in a field that may be empty', async (view) => {
  const fields = ['First', 'Second'].map((label) => ({ name: label, label, kind: 'date' }));
  await view.show({ component: 'form', props: { fields } });
  const second = view.root.getByLabel('Second');
  await second.focus();
  await view.page.keyboard.type('12');
  await view.root.getByRole('button', { name: 'Submit' }).click();
  await view.root.getByText('Enter a value.').waitFor();
  assert.equal(await view.root.getByText('Enter a value.').count(), 1);
  assert.equal(await view.page.evaluate(() => window.shadow().activeElement.id), 'f1');
  assert.deepEqual((await view.log()).answers, []);
  await second.fill('2026-12-24');
  assert.equal(await view.root.getByText('Enter a value.').count(), 0);
  await view.root.getByRole('button', { name: 'Submit' }).click();
  await view.root.getByText('Sent').waitFor();
  assert.deepEqual((await view.log()).answers, [{ values: { Second: '2026-12-24' } }]);
});

test('a form that is not accepted can be sent again, and an answered form is read only', async (view) => {
  await view.page.evaluate(
    (props) => {
      let refused = 0;
      window.show(
        { component: 'form', props },
        {
          respond: async (output) => {
            if (!refused++) throw new Error('offline');
            window.log.answers.push(output);
          },
        },
      );
    },
    {
      fields: [
        { name: '__proto__', label: 'Name', kind: 'text' },
        { name: 'empty', label: 'Empty', kind: 'number' },
      ],
    },
  );
  await view.root.getByLabel('Name').fill('Ada');
  await view.root.getByRole('button').click();
  await view.root.getByText('The answer was not sent. Try again.').waitFor();
  assert.equal(await view.root.getByLabel('Name').inputValue(), 'Ada');
  await view.root.getByRole('button').click();
  await view.root.getByText('Sent').waitFor();
  assert.deepEqual(
    await view.page.evaluate(() => JSON.stringify(window.log.answers)),
    '[{"values":{"__proto__":"Ada"}}]',
  );
  await view.show({ component: 'form', props: samples.form, output: { values: { name: 'Grace', remind: true } } });
  assert.equal(await view.root.locator('input').count(), 0);
  assert.match(await view.text(), /Name\s+Grace[^]*Send a reminder\s+Yes/);
});

test('choices are answered by keyboard, once', async (view) => {
  await view.show({ component: 'choices', props: samples.choices });
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Enter');
  await view.root.getByText('Sent').waitFor();
  await view.page.keyboard.press('Enter');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Enter');
  assert.deepEqual((await view.log()).answers, [{ chosen: ['noon'] }]);
  assert.equal(await view.root.locator('[aria-pressed=true]').innerText(), '12:40 – 17:05\nOne stop in Lyon, € 132');

  await view.show({ component: 'choices', props: variants['choices multiple'] });
  await view.page.evaluate(() => (window.log.answers.length = 0));
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Space');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Space');
  await view.page.keyboard.press('Tab');
  await view.page.keyboard.press('Enter');
  await view.root.getByText('Sent').waitFor();
  assert.deepEqual((await view.log()).answers, [{ chosen: ['am', 'pm'] }]);
  assert.equal(
    await view.page.evaluate(() => window.shadow().activeElement?.localName),
    'fieldset',
    'the answer has the focus',
  );
});

test('an answer that is shown before it is sent takes no focus from another field', async (view) => {
  await view.page.evaluate((props) => {
    const field = document.body.appendChild(document.createElement('input'));
    const sent = new Promise((resolve) => (window.sent = resolve));
    window.show({ component: 'form', props }, { respond: () => (window.change({ output: { values: {} } }), sent) });
    window.field = field;
  }, { fields: [{ name: 'city', label: 'City', kind: 'text' }] });
  await view.root.getByRole('button', { name: 'Submit' }).click();
  await view.root.getByText('Sent').waitFor();
  assert.equal(await view.page.evaluate(() => window.shadow().activeElement?.localName), 'dl');
  await view.page.evaluate(() => (window.field.focus(), window.sent()));
  await view.settle();
  assert.equal(await view.page.evaluate(() => document.activeElement === window.field), true);
});

test('progress of 0 % is no indeterminate bar', async (view) => {
  await view.show({ component: 'progress', props: { title: 'Import', percent: 0 } });
  const bar = view.root.getByRole('progressbar');
  assert.equal(await bar.evaluate((node) => node.matches(':indeterminate')), false);
  await view.change({ props: { title: 'Import', percent: 40 } });
  assert.equal(await bar.evaluate((node) => node.value), 40);
});

test('a day that does not exist is shown as it is written, and is no value of a field', async (view) => {
  const rows = ['2026-02-31', '2026-02-31T10:00:00Z', '2026-02-28', '2024-02-29'].map((day) => [day]);
  await view.show({ component: 'table', props: { columns: [{ label: 'Day', kind: 'date' }], rows } }, { locale: 'en' });
  const days = await view.root.locator('tbody th').allInnerTexts();
  assert.deepEqual(days, ['2026-02-31', '2026-02-31T10:00:00Z', 'Feb 28, 2026', 'Feb 29, 2024']);
  const fields = [{ name: 'day', label: 'Day', kind: 'date', value: '2026-02-31' }];
  await view.show({ component: 'form', props: { fields } });
  await view.root.getByRole('button', { name: 'Submit' }).click();
  await view.root.getByText('Sent').waitFor();
  assert.deepEqual((await view.log()).answers, [{ values: {} }]);
});

test('nothing can be answered before all options are there', async (view) => {
  const text = JSON.stringify(samples.choices);
  await view.show({ component: 'choices', props: text.slice(0, -3), status: 'streaming' });
  await view.root.getByText('08:10').click({ force: true });
  const form = JSON.stringify(samples.form);
  assert.deepEqual((await view.log()).answers, []);
  await view.show({ component: 'form', props: form.slice(0, -20), status: 'streaming' });
  await view.root.getByRole('button', { name: 'Submit' }).click({ force: true });
  assert.deepEqual((await view.log()).answers, []);
  assert.equal(await view.root.locator('[aria-invalid]').count(), 0);
});

test(
  'targets are large enough, and at 320 px nothing is wider than the page',
  async (view) => {
    for (const [name, props] of Object.entries({ ...samples, ...variants })) {
      await view.show({ component: name.split(' ')[0], props });
      await view.settle();
      const small = await view.page.evaluate(() =>
        [...window.shadow().querySelectorAll('button, input, select, textarea, summary')]
          .filter((node) => {
            const { width, height } = node.getBoundingClientRect();
            // The margin or cell around a check box belongs to its spacing, as WCAG 2.5.8 counts it.
            return node.type === 'checkbox' ? width < 18 || height < 18 : width < 24 || height < 24;
          })
          .map((node) => node.outerHTML),
      );
      assert.deepEqual(small, [], name);
      assert.equal(await view.page.evaluate(() => document.documentElement.scrollWidth), 320, name);
    }
  },
  { width: 320 },
);
