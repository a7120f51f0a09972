import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import omniassist from '../vite/omniassist.mjs';
import { scan, textOf } from '../vite/scan.mjs';

const folder = (name) => fileURLToPath(new URL(`../testing/scan/${name}`, import.meta.url));
const line = ({ path, name, title, params }) => [path, name ?? '-', title ?? '-', params?.join() ?? '-'].join(' ');

test('contract_001_12 the routes, the form and the schema of a React application are found', () => {
  const { manifest, warnings } = scan(folder('react'));
  assert.deepEqual(warnings, []);
  assert.deepEqual(manifest.routes.map(line), [
    '/ - Start -',
    '/about - - -',
    '/admin/groups - Groups -',
    '/admin/groups/:group/edit - - group',
    '/admin/users - Users -',
    '/files/* - - -',
    '/help/:topic? - - topic',
    '/orders - Orders -',
    '/orders/:id order - id',
  ]);
  assert.deepEqual(manifest.forms, [
    {
      form: 'ticket',
      schema: {
        type: 'object',
        properties: {
          subject: { title: 'Subject', type: 'string', maxLength: 200 },
          details: { title: 'Details', type: 'string' },
          priority: { type: 'string', enum: ['low', 'high'] },
          channel: { type: 'string', enum: ['mail', 'phone'] },
          urgent: { type: 'boolean' },
          days: { type: 'array', items: { type: 'string', enum: ['mo', 'fr'] } },
          amount: { type: 'number', minimum: 0, maximum: 100 },
          due: { type: 'string', format: 'date' },
          until: { title: 'Until', type: 'string' },
        },
        required: ['subject'],
        additionalProperties: false,
      },
    },
  ]);
  assert.deepEqual(manifest.schemas, {
    TicketSchema: {
      type: 'object',
      properties: {
        subject: { type: 'string', minLength: 1, maxLength: 200 },
        priority: { type: 'string', enum: ['low', 'high'], default: 'low' },
        order: { type: 'integer', exclusiveMinimum: 0 },
        tags: { type: 'array', items: { type: 'string' }, maxItems: 5 },
        email: { type: 'string', format: 'email' },
        notes: { anyOf: [{ type: 'string', description: 'Anything else' }, { type: 'null' }] },
      },
      required: ['subject', 'tags', 'email'],
      additionalProperties: false,
    },
  });
});

test('the routes and the form of a Vue application are found', () => {
  const { manifest, warnings } = scan(folder('vue'));
  assert.deepEqual(warnings, []);
  assert.deepEqual(manifest.routes.map(line), [
    '/customers/:name? - Customers name',
    '/orders orders Orders -',
    '/orders/:id order-detail - id',
    '/orders/:id/edit - Edit the order id',
  ]);
  assert.deepEqual(manifest.forms, [
    {
      form: 'ticket',
      schema: {
        type: 'object',
        properties: {
          subject: { title: 'Subject', type: 'string', maxLength: 200 },
          priority: { title: 'Priority', type: 'array', items: { type: 'string', enum: ['low', 'high'] } },
          mail: { type: 'string', format: 'email' },
        },
        required: ['subject'],
        additionalProperties: false,
      },
    },
  ]);
});

function tree(files) {
  const root = mkdtempSync(join(tmpdir(), 'omniassist-scan-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** Scans sources, which `prepare` can change first. */
function scanned(files, { prepare = () => {}, ...options } = {}) {
  const root = tree(files);
  try {
    prepare(root);
    return scan(root, options);
  } finally {
    rmSync(root, { recursive: true });
  }
}

const pathsOf = (...args) => scanned(...args).manifest.routes.map(({ path }) => path);

test('lock files of editors are left out, and files that cannot be read are warnings', () => {
  const prepare = (root) => {
    symlinkSync('someone@host.1', join(root, '.#main.tsx'));
    symlinkSync('deleted', join(root, 'gone.tsx'));
  };
  const { manifest, warnings } = scanned({ 'main.tsx': `createBrowserRouter([{ path: '/a', element: <p /> }]);` }, { prepare });
  assert.deepEqual(manifest.routes, [{ path: '/a' }]);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /gone\.tsx: .*ENOENT/);
});

/** Returns the schema of `const It = …`, below other constants. */
const schemaOf = (it, before = '') => {
  const text = `import { z } from 'zod'; ${before}; export const It = ${it};`;
  return scanned({ 'schemas.ts': text }).manifest.schemas.It;
};
const memberOf = (it) => schemaOf(`z.object({ a: ${it} })`);

test('a member of a Zod object takes the values that Zod takes', () => {
  const string = { type: 'string' };
  const orNull = { anyOf: [string, { type: 'null' }] };
  const cases = [
    ['z.string().trim().refine(ok)', string, true],
    ['z.string().nullable()', orNull, true],
    ['z.string().nullish()', orNull, false],
    ['z.nullish(z.string())', orNull, false],
    ['z.optional(z.string())', string, false],
    ["z.string().catch('')", string, false],
    ["z.string().prefault('x')", { ...string, default: 'x' }, false],
    ['z.number().default(now())', { type: 'number' }, false],
    ['z.iso.date()', { ...string, format: 'date' }, true],
    ['z.string().or(z.number())', { anyOf: [string, { type: 'number' }] }, true],
    ['z.string().and(other)', {}, true],
    ['z.string().novel(1)', {}, false],
    ['z.number().negative()', { type: 'number', exclusiveMaximum: 0 }, true],
    ["z.enum([A, 'b'])", {}, true],
    ['somewhere', {}, false],
  ];
  for (const [text, member, isRequired] of cases) {
    const { properties, required } = memberOf(text);
    assert.deepEqual([properties.a, required], [member, isRequired ? ['a'] : undefined], text);
  }
});

test('an object that is made of another Zod object has the right members', () => {
  const before = 'const Base = z.object({ a: z.string(), b: z.number().optional(), d: z.string().default(x()) })';
  const cases = [
    ["Base.pick({ a: true })", 'a', 'a', false],
    ["Base.omit({ a: true })", 'b d', '', false],
    ["Base.partial()", 'a b d', '', false],
    ["Base.partial({ b: true })", 'a b d', 'a', false],
    ["Base.required()", 'a b d', 'a b d', false],
    ["Base.required({ d: true })", 'a b d', 'a d', false],
    ["Base.extend({ a: z.string().optional(), c: z.string() })", 'a b d c', 'c', false],
    ["Base.merge(z.looseObject({ c: z.string() }))", 'a b d c', 'a c', true],
    ["Base.passthrough()", 'a b d', 'a', true],
    ["Base.catchall(z.string())", 'a b d', 'a', true],
    ["z.looseObject({ a: z.string() })", 'a', 'a', true],
    ["z.object({ ...Base.shape, c: z.string() })", 'a b d c', 'a c', false],
    ["z.object({ ...shape, c: z.string() })", 'c', 'c', true],
    ["z.object({ [key]: z.string() })", '', '', true],
  ];
  for (const [text, names, needed, isOpen] of cases) {
    const { properties, required = [], additionalProperties } = schemaOf(text, before);
    const found = [Object.keys(properties).join(' '), required.join(' '), additionalProperties !== false];
    assert.deepEqual(found, [names, needed, isOpen], text);
  }
  const rest = schemaOf('Base.catchall(z.number())', before).additionalProperties;
  assert.deepEqual(rest, { type: 'number' });
  for (const text of ['Base.keyof()', 'Base.parse(input)', 'Base.novel()', 'Base.pick(keys)', 'Base.and(Base)', 'Base.extend(more)']) {
    assert.equal(schemaOf(text, before), undefined, text);
  }
});

test('a form takes every value that its fields can have', () => {
  const formOf = (fields) => scanned({ 'form.tsx': `<form data-assistant="f">${fields}</form>;` }).manifest.forms[0].schema;
  const cases = [
    ['<input name="a" disabled={busy} />', { type: 'string' }],
    ['<input name="a" disabled />', undefined],
    ['<input name="a" autoComplete="CC-Number" />', undefined],
    ['<input name="a" type={isShown ? "text" : "password"} />', undefined],
    ['<select name="a"><option value="x">X</option><option value={more}>More</option></select>', { type: 'string' }],
    ['<select name="a"><option value="">-</option><option value={1}>X</option></select>', { type: 'string', enum: ['1'] }],
    ['<select name="a" multiple={false}><option>X</option></select>', { type: 'string', enum: ['X'] }],
    ['<input type="radio" name="a" value={some} /><input type="radio" name="a" value="x" />', { type: 'string' }],
  ];
  for (const [fields, member] of cases) assert.deepEqual(formOf(fields).properties.a, member, fields);
  assert.equal(formOf('<input name="a" required={isNeeded} />').required, undefined);
  for (const field of ['<input name={`item.${i}`} />', '<input {...register("a")} />']) {
    assert.equal('additionalProperties' in formOf(`${field}<input name="b" />`), false, field);
  }
  const template = '<template><form data-assistant><input name="a" :disabled="busy"><input :name="b" :required="false"></form></template>';
  const [{ schema }] = scanned({ 'Form.vue': template }).manifest.forms;
  assert.deepEqual(schema, { type: 'object', properties: { a: { type: 'string' } } });
});

test('routes of file names are found if the sources declare none', () => {
  const paths = (...names) => pathsOf(Object.fromEntries(names.map((name) => [name, 'export default () => null;\n'])));
  assert.deepEqual(
    paths(
      'app/page.tsx',
      'app/(shop)/orders/[id]/page.tsx',
      'app/docs/[[...slug]]/page.tsx',
      'app/@modal/photo/page.tsx',
      'app/_lib/page.tsx',
      'app/orders/layout.tsx',
      'app/guide/page.mdx',
      'app/posts/[post-id]/page.tsx',
      'app/@modal/(.)secret/page.tsx',
      'app/feed/(..)secret/[id]/page.tsx',
      'app/feed/(..)(..)secret/page.tsx',
      'app/feed/(...)secret/page.tsx',
    ),
    ['/', '/docs/:slug*', '/guide', '/orders/:id', '/photo', '/posts/:post_id'],
  );
  assert.deepEqual(
    paths(
      'pages/index.vue',
      'pages/orders/index.vue',
      'pages/orders/[id].vue',
      'pages/[...all].vue',
      'pages/_app.tsx',
      'pages/api/x.ts',
    ),
    ['/', '/orders', '/orders/:id'],
  );
  assert.deepEqual(
    paths(
      'routes/+page.svelte',
      'routes/(app)/orders/[id=number]/+page.svelte',
      'routes/[[lang]]/about/+page.svelte',
      'routes/+layout.svelte',
      'routes/reset/+page@.svelte',
      'routes/admin/+page@(app).svelte',
      'routes/files/[...path=file]/+page.svelte',
    ),
    ['/', '/:lang?/about', '/admin', '/files/:path*', '/orders/:id', '/reset'],
  );
  assert.deepEqual(
    paths(
      'root.tsx',
      'routes/_index.tsx',
      'routes/orders.$id.tsx',
      'routes/_auth.login.tsx',
      'routes/files.$.tsx',
      'routes/about/route.tsx',
      'routes/about/chart.tsx',
    ),
    ['/', '/about', '/files/*', '/login', '/orders/:id'],
  );
});

test('a list of routes for a framework, and functions of React Router, are read', () => {
  const root = tree({
    'routes.ts': `import { type RouteConfig, index, layout, prefix, route } from '@react-router/dev/routes';
      export default [index('./home.tsx'), layout('./shell.tsx', [route('login', './login.tsx')]), ...prefix('orders', [index('./orders.tsx'), route(':id', './order.tsx', [route('edit', './edit.tsx')])])] satisfies RouteConfig;`,
    'loop.ts': 'export const a = b; const b = a; createBrowserRouter(a);',
    'broken.tsx': 'const x = <div>{ ;',
  });
  try {
    assert.deepEqual(
      scan(root).manifest.routes.map(({ path }) => path),
      ['/', '/login', '/orders', '/orders/:id', '/orders/:id/edit'],
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});

test('paths that are made of constants are read, and routes of other paths are left out with a warning', () => {
  const { manifest, warnings } = scanned({
    'paths.ts': `export const PATHS = { orders: '/orders', deep: { a: 'a' } } as const; export const HELP = 'help';`,
    'main.tsx': `import { PATHS } from './paths'; import * as P from './paths'; const BASE = '/shop';
      const App = () => <Routes><Route path={PATHS.orders} element={<A />}><Route path={P.HELP} element={<A />} /></Route></Routes>;
      createBrowserRouter([
        { path: \`\${BASE}/items/\${PATHS.deep.a}\`, element: <A /> },
        { path: BASE + '/all', Component: A },
        { path: made(), element: <A />, children: [{ path: 'child', element: <A /> }] },
      ]);`,
  });
  assert.deepEqual(
    manifest.routes.map(({ path }) => path),
    ['/orders', '/orders/help', '/shop/all', '/shop/items/a'],
  );
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /main\.tsx: .*made\(\)/);
});

test('paths of an enumeration, and of files that export them again, are read', () => {
  const { manifest, warnings } = scanned({
    'paths.ts': `export enum Path { Orders = '/orders' } export const HELP = '/help'; export default '/about';`,
    'circle.ts': `export * from './index'; export { missing } from './circle';`,
    'index.ts': `export * from './circle'; export * from './paths'; export { default as ABOUT, HELP as DOCS } from './paths';`,
    'main.tsx': `import { ABOUT, DOCS, Path, missing, unknown } from './index';
      useRoutes([
        { path: Path.Orders, Component: A }, { path: DOCS, Component: A }, { path: ABOUT, Component: A },
        { path: missing, Component: A }, { path: unknown, Component: A },
      ]);`,
  });
  assert.deepEqual(
    manifest.routes.map(({ path }) => path),
    ['/about', '/help', '/orders'],
  );
  assert.equal(warnings.length, 2, warnings.join('\n'));
});

test('the choices of a Zod schema are those of a constant or an enumeration, under each name of the import', () => {
  const { manifest } = scanned({
    'kinds.ts': `export const KINDS = ['a', 'b'] as const; export enum Kind { A = 'a', B = 'b' } export enum Level { Low, High }`,
    'schemas.ts': `import zod from 'zod'; import * as v4 from 'zod/v4'; import { KINDS, Kind, Level } from './kinds';
      const WORDS = { One: 'a', Two: 'b' } as const;
      const Order = zod.object({
        list: zod.enum(KINDS), native: v4.nativeEnum(Kind), object: v4.enum(WORDS), level: zod.nativeEnum(Level),
        other: zod.enum(unknown), date: v4.iso.date(),
      });`,
  });
  const choice = { type: 'string', enum: ['a', 'b'] };
  assert.deepEqual(manifest.schemas.Order.properties, {
    list: choice,
    native: choice,
    object: choice,
    level: {},
    other: {},
    date: { type: 'string', format: 'date' },
  });
});

test('routes that a condition adds to a list are found', () => {
  const text = `createBrowserRouter([
    isNew && { path: '/a', element: <A /> },
    isNew ? { path: '/b', element: <A /> } : { path: '/c', element: <A /> },
    ...(isNew ? [{ path: '/d', element: <A /> }] : []),
  ].filter(Boolean)); const loop = isNew && loop; useRoutes(loop);
    const self = { children: self }; useRoutes([self]); const child: RouteObject = { path: 'child', element: <A /> };`;
  assert.deepEqual(pathsOf({ 'main.tsx': text }), ['/a', '/b', '/c', '/d']);
});

test('an alias of Vue is a page, and a record that redirects is none', () => {
  const text = `createRouter({ routes: [
    { path: '/', name: 'home', component: A, alias: ['/home', '/start'] },
    { path: '/users', component: A, children: [{ path: ':id', alias: 'one/:id', component: A }] },
    { path: '/old', redirect: '/users', component: A, children: [{ path: 'kept', component: A }] },
  ] });`;
  assert.deepEqual(pathsOf({ 'router.ts': text }), ['/', '/home', '/old/kept', '/start', '/users', '/users/:id', '/users/one/:id']);
});

test('routes below a splat are left out, because their file does not say where they are', () => {
  const { manifest, warnings } = scanned({
    'App.tsx': `export const App = () => <Routes><Route path="about" element={<A />} />
      <Route path="files/*" element={<Guard><Files /></Guard>} /></Routes>;`,
    'Files.tsx': `export const Files = () => <Routes><Route index element={<A />} /><Route path="upload" element={<A />} /></Routes>;`,
  });
  assert.deepEqual(
    manifest.routes.map(({ path }) => path),
    ['/about', '/files/*'],
  );
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /Files\.tsx/);
});

test('routes that may be below a splat are left out, and other ones are kept', () => {
  const app = `export const App = () => <Routes><Route path="about" element={<A />} /><Route path="files/*" element={<Page />} /></Routes>;`;
  const inner = `export const Inner = () => <Routes><Route path="upload" element={<A />} /></Routes>;`;
  const outer = `export const Outer = () => <Routes><Route path="/login" element={<A />} /></Routes>;`;
  assert.deepEqual(pathsOf({ 'App.tsx': app, 'Inner.tsx': inner, 'Outer.tsx': outer }), ['/about', '/files/*', '/login']);
  const page = `export const Page = () => <Routes><Route path="new" element={<A />} /></Routes>;`;
  assert.deepEqual(pathsOf({ 'App.tsx': app, 'Inner.tsx': inner, 'Page.tsx': page }), ['/about', '/files/*', '/upload']);
});

test('the command writes the manifest, the same bytes each time', () => {
  const out = join(mkdtempSync(join(tmpdir(), 'omniassist-scan-')), 'routes.json');
  const command = (...args) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('../vite/scan.mjs', import.meta.url)), ...args], {
      encoding: 'utf8',
    });
  try {
    assert.equal(command(folder('vue'), '--out', out).status, 0);
    const text = readFileSync(out, 'utf8');
    assert.equal(text, textOf(scan(folder('vue')).manifest));
    assert.equal(JSON.parse(text).version, 1);
    assert.equal(command('nowhere').status, 2);
  } finally {
    rmSync(dirname(out), { recursive: true });
  }
});

test('contract_001_12 the plugin adds the manifest to the build and serves the current one', async () => {
  const root = tree({ 'src/routes.tsx': `createBrowserRouter([{ path: '/first', element: <p /> }]);` });
  const plugin = omniassist({ files: true });
  plugin.configResolved({ root, base: '/app/' });
  const emitted = [];
  plugin.generateBundle.call({ emitFile: (file) => emitted.push(file) });
  assert.deepEqual(
    emitted.map(({ type, fileName, source }) => [type, fileName, JSON.parse(source).routes]),
    [['asset', 'routes.json', [{ path: '/first' }]]],
  );
  assert.equal(plugin.load(plugin.resolveId('virtual:omniassist')), `export default ${emitted[0].source}`);
  assert.equal(plugin.resolveId('other'), undefined);
  assert.deepEqual(plugin.resolveId('/assistant/widget.js'), { id: '/assistant/widget.js', external: true });
  assert.equal(plugin.load('/assistant/widget.js'), '');

  const handlers = [];
  const watcher = new EventEmitter();
  const dropped = [];
  plugin.configureServer({
    middlewares: { use: (handler) => handlers.push(handler) },
    moduleGraph: { getModuleById: (id) => id, invalidateModule: (id) => dropped.push(id) },
    watcher,
  });
  const server = createServer((request, response) =>
    handlers[0](request, response, () => response.writeHead(404).end()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const routes = async () => (await (await get('/app/routes.json')).json()).routes.map(({ path }) => path);
    const get = (path) => fetch(`http://127.0.0.1:${server.address().port}${path}`);
    writeFileSync(join(root, 'src/routes.tsx'), `createBrowserRouter([{ path: '/second', element: <p /> }]);`);
    watcher.emit('all', 'change', join(root, 'src/routes.tsx'));
    assert.deepEqual(await routes(), ['/second']);
    assert.equal((await get('/app/other.json')).status, 404);
    assert.equal(dropped.length, 1);

    mkdirSync(join(root, 'src/pages'));
    writeFileSync(join(root, 'src/pages/third.tsx'), 'export default () => null;');
    watcher.emit('all', 'add', join(root, 'other/third.tsx'));
    assert.deepEqual(await routes(), ['/second'], 'a file elsewhere is no source');
    watcher.emit('all', 'add', join(root, 'src/pages/third.tsx'));
    assert.deepEqual(await routes(), ['/second', '/third']);
    rmSync(join(root, 'src/pages/third.tsx'));
    watcher.emit('all', 'unlink', join(root, 'src/pages/third.tsx'));
    assert.deepEqual(await routes(), ['/second']);
    assert.equal(dropped.length, 3);
  } finally {
    server.close();
    rmSync(root, { recursive: true });
  }
});
