import assert from 'node:assert/strict';
import { suite } from '../page-tools.mjs';

const names = (view) => view.page.evaluate(() => [...window.registry.tools.keys()].sort());
/** The tools that an agent of the browser sees. */
const listed = (view) =>
  view.page.evaluate(async () => (await document.modelContext.getTools()).map(({ name }) => name).sort());

/** Registers a tool of other code of the page, and one with the assistant. */
const prepare = (view) =>
  view.page.evaluate(async () => {
    const context = document.modelContext;
    window.stopFirst = new AbortController();
    await context.registerTool(
      {
        name: 'cart_total',
        title: 'Total',
        description: 'Returns the total',
        inputSchema: { type: 'object', properties: { currency: { type: 'string' } } },
        execute: async ({ currency }) => {
          if (!currency) throw new Error('No currency');
          return { total: 12, currency };
        },
      },
      { signal: window.stopFirst.signal },
    );
    await context.registerTool({
      name: 'stock',
      description: 'Returns the stock',
      inputSchema: {},
      execute: async () => 3,
    });
    window.seen = [];
    window.unregister = window.registry.registerTool(
      {
        name: 'greet',
        description: 'Greets',
        inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
      },
      async ({ name }, run) => {
        window.seen.push([run.signal instanceof AbortSignal, await run.confirm('Really?')]);
        return { greeting: `Hello ${name}` };
      },
    );
    window.end = window.page.webmcp();
  });

/** The interface of the specification as of 2025: on `navigator`, with schemas and arguments as JSON. */
function older() {
  const tools = new Map();
  const context = Object.assign(new EventTarget(), {
    registerTool(tool) {
      if (tools.has(tool.name)) throw new DOMException('There is a tool with this name.', 'InvalidStateError');
      tools.set(tool.name, tool);
      context.dispatchEvent(new Event('toolchange'));
    },
    unregisterTool(name) {
      tools.delete(name);
      context.dispatchEvent(new Event('toolchange'));
    },
    getTools: async () =>
      [...tools.values()].map(({ execute, inputSchema, ...tool }) => ({
        ...tool,
        inputSchema: JSON.stringify(inputSchema),
      })),
    executeTool: async ({ name }, json) => JSON.stringify(await tools.get(name).execute(JSON.parse(json), {})),
  });
  Object.defineProperty(navigator, 'modelContext', { value: context });
  Object.defineProperty(document, 'modelContext', { value: context });
  // The tests remove their first tool by a signal, which this interface does not have.
  const { registerTool } = context;
  context.registerTool = (tool, options) => {
    registerTool(tool);
    if (tool.name === 'cart_total') options.signal.addEventListener('abort', () => context.unregisterTool(tool.name));
  };
}

const eventually = (view, list) =>
  view.page.waitForFunction(
    async (list) => JSON.stringify([...window.registry.tools.keys()].sort()) === list,
    JSON.stringify(list),
  );

async function bothWays(view, execute) {
  view.page.on('dialog', (dialog) => dialog.accept());
  await prepare(view);
  await eventually(view, ['cart_total', 'greet', 'stock']);
  const taken = await view.page.evaluate(() => window.registry.tools.get('cart_total').tool);
  assert.deepEqual(taken, {
    name: 'cart_total',
    title: 'Total',
    description: 'Returns the total',
    inputSchema: { type: 'object', properties: { currency: { type: 'string' } } },
  });
  assert.deepEqual(await view.call('cart_total', { currency: 'EUR' }), { total: 12, currency: 'EUR' });
  assert.match((await view.call('cart_total', {})).error, /./);

  assert.deepEqual(await listed(view), ['cart_total', 'greet', 'stock'], 'each tool is offered once');
  assert.deepEqual(await execute('greet', { name: 'Ann' }), { greeting: 'Hello Ann' });
  assert.deepEqual(await view.page.evaluate(() => window.seen), [[true, true]], 'the user was asked by the browser');

  await view.page.evaluate(() => void window.page.tools({ discover: true }));
  await view.page.waitForFunction(async () => (await document.modelContext.getTools()).length === 4);
  await view.page.evaluate(() => window.stopFirst.abort());
  await eventually(view, ['discover_page', 'greet', 'stock']);
  await view.page.evaluate(() => window.unregister());
  assert.deepEqual(await listed(view), ['discover_page', 'stock']);
  await view.page.evaluate(() => window.end());
  assert.deepEqual(await listed(view), ['stock'], 'the tools of other code stay');
  assert.deepEqual(await names(view), ['discover_page']);
}

/** A browser without WebMCP. */
function none() {
  Object.defineProperty(document, 'modelContext', { value: undefined });
}

suite('plain', (test) => {
  test(
    'tools are offered to the browser, and those of the browser to the assistant',
    (view) =>
      bothWays(view, (name, input) =>
        view.page.evaluate(
          async ([name, input]) => {
            const tool = (await document.modelContext.getTools()).find((tool) => tool.name === name);
            return JSON.parse(await document.modelContext.executeTool(tool, input));
          },
          [name, input],
        ),
      ),
    { expects: /No currency/ },
  );

  test(
    'the older interface works both ways too',
    (view) =>
      bothWays(view, (name, input) =>
        view.page.evaluate(
          async ([name, input]) =>
            JSON.parse(await navigator.modelContext.executeTool({ name }, JSON.stringify(input))),
          [name, input],
        ),
      ),
    { init: older },
  );

  test(
    'a browser without WebMCP changes nothing',
    async (view) => {
      await view.page.evaluate(() => {
        window.registry.registerTool({ name: 'greet', description: 'Greets' }, () => 'Hello');
        window.page.webmcp()();
      });
      assert.deepEqual(await names(view), ['greet']);
    },
    { init: none },
  );
});
