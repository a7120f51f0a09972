// The npm package of the chat, as programs in TypeScript use it: installed from its archive, compiled, and run.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { DEMO, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { openBrowser } from '../testing/page.mjs';
import { program } from '../testing/programs.mjs';
import { openBefore } from '../testing/tree-page.mjs';

program('QUICKSTART_BIN', 'quickstart');
const widget = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);

const PROGRAM = `
import { type Chat, compress, createChat, type Message, validateMessages } from 'omniassist-client';

const chat: Chat = createChat({ api: process.argv[2]!, persist: 'none' });
let changes = 0;
chat.subscribe(() => changes++);
await chat.ready;
await chat.sendMessage({ text: 'Where is order 1001?' });
const messages: readonly Message[] = chat.messages;
const tools = messages.flatMap(({ parts }) => parts).filter(({ type }) => type.startsWith('tool-'));
const again = validateMessages(JSON.parse(JSON.stringify(messages)));
const { block } = compress([{ type: 'navigation', data: { path: '/orders' } }]);
console.log(JSON.stringify({
  status: chat.status,
  error: chat.error?.message,
  roles: again.messages.map(({ role }) => role),
  tools: tools.length,
  changes,
  bullet: block.split('\\n')[2],
}));
chat.close();
`;

const REACT = `
import { registerTool } from 'omniassist-client';
import { HsafaChat, HsafaProvider, type UseOmniAssist, useHsafa, useHsafaAgent, useOmniAssist } from 'omniassist-client/react';
import { createElement as h, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';

registerTool({ name: 'open_page', description: 'Returns the open page' }, () => location.pathname);
const textOf = ({ parts }: UseOmniAssist['messages'][number]): string =>
  parts.map((part) => (part.type === 'text' && 'text' in part ? part.text : '')).join('');
function Orders(): ReactNode {
  const chat = useOmniAssist({ api: '/assistant', persist: 'none' });
  const agent = useHsafaAgent();
  return h('section', null,
    h('output', null, chat.status, ' ', useHsafa().theme, ' ', agent.forms.length),
    h('ol', null, chat.messages.map((message) => h('li', { key: message.id }, textOf(message)))),
    h('button', { onClick: () => void chat.sendMessage({ text: 'Where is order 1001?' }) }, 'Ask'));
}
const app = h(HsafaProvider, { baseUrl: '/assistant', theme: 'dark' }, h(Orders), h(HsafaChat, { mode: 'panel' }));
Object.assign(window, { rendered: renderToString(app) });
createRoot(document.querySelector('#root')!).render(app);
`;

const VUE = `
import { useOmniAssist } from 'omniassist-client/vue';
import { createApp, h } from 'vue';

createApp({
  setup() {
    const { messages, sendMessage, status } = useOmniAssist({ api: '/assistant', persist: 'none' });
    const ask = (): void => void sendMessage({ text: 'Where is order 1001?' });
    return () => h('section', [
      h('output', status.value),
      h('ol', messages.value.map(({ id, parts }) => h('li', { key: id }, JSON.stringify(parts)))),
      h('button', { onClick: ask }, 'Ask'),
    ]);
  },
}).mount('#root');
`;

/** What a page does with `widget.js` of the server. */
const PAGE = `
import { addContext, createChat, OmniAssistChat, page, registerComponent, registerContext, registerTool } from '/assistant/widget.js';
import type { Chat, Component, PageToolsOptions } from '/assistant/widget.js';
// @ts-expect-error The package has no page.
import { page as other } from 'omniassist-client';

registerTool({ name: 'cart', description: 'Shows the cart', execute: ({ open }: { open: boolean }) => open });
// @ts-expect-error A tool has a description.
registerTool({ name: 'cart' }, () => {});
registerContext('cart', () => []);
addContext({ type: 'hint', data: 1 });
const card: Component = { schema: { type: 'object' }, render: (root, { props }) => void root.append(String(props)) };
registerComponent('card', card);
const options: PageToolsOptions = { navigate: true, routes: [{ path: '/orders' }], fill: true };
const end: () => void = await page.tools(options);
await page.capture({ navigation: true });
const restored: string[] = (await page.undo()).restored;
const chat: Chat = createChat({ api: '/assistant' });
const element: OmniAssistChat = document.createElement('omniassist-chat');
element.toggle();
document.querySelector('omniassist-agents')!.texts = {};
element.addEventListener('omni-tool', ({ detail }) => detail.part.toolCallId.length);
// @ts-expect-error The detail has a value, and no number.
document.addEventListener('omni-feedback', ({ detail }) => detail.value?.toFixed());
export { card, chat, end, other, restored };
`;
const CONFIG = `
import omniassist, { type OmniAssistOptions } from 'omniassist-client/vite';

const options: OmniAssistOptions = { src: 'app', files: false };
const plugin: { name: string; resolveId?(id: string): unknown; load?(id: unknown): unknown } = omniassist(options);
console.log(plugin.load?.(plugin.resolveId?.('virtual:omniassist')));
`;
const ROUTES = `
/// <reference types="omniassist-client/vite/client" />
import manifest from 'virtual:omniassist';
import { page } from '/assistant/widget.js';

await page.tools({ navigate: true, routes: manifest.routes });
`;
const WIDGET_TYPES = "declare module '*/assistant/widget.js' {\n  export * from 'omniassist-client/widget';\n}\n";

/** The packages of the applications: copies, so that another place of React or Vue shows as a second one. */
const OWN = ['react', 'react-dom', 'scheduler', 'vue', '@vue', '@babel', '@types/react', 'csstype'];
/** What the applications use of packages without types. */
const UNTYPED = `
declare module 'react-dom/client' {
  export const createRoot: (node: Element) => { render(node: import('react').ReactNode): void };
}
declare module 'react-dom/server' {
  export const renderToString: (node: import('react').ReactNode) => string;
}
`;

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'npm-'));
  await run('node', [join(widget, 'npm/pack.mjs')]);
  await run('npm', ['pack', '--pack-destination', folder], { cwd: join(widget, 'out/npm') });
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const [archive] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${archive}`], { cwd: folder });
  await mkdir(join(folder, 'src'));
  await writeFile(join(folder, 'src/program.ts'), PROGRAM);
});

after(() => rm(folder, { recursive: true, force: true }));

/** Compiles sources in the folder as a strict program does, and checks the types of the package too. */
async function compile(files, ...options) {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'src', name), text);
  const compiler = join(widget, 'node_modules/typescript/bin/tsc');
  const strict = '--strict --skipDefaultLibCheck --target es2022 --outDir out'.split(' ');
  const names = Object.keys(files).map((name) => `src/${name}`);
  await run('node', [compiler, ...options, ...strict, ...names], { cwd: folder }).catch(({ stdout }) => assert.fail(stdout));
}
/** Returns the examples of the README in a language, as one module. `cart` is the application's own. */
async function examples(language) {
  const readme = await readFile(join(folder, 'node_modules/omniassist-client/README.md'), 'utf8');
  const blocks = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block]) => block);
  assert.ok(blocks.length > 0);
  return `declare const cart: { show(): unknown };\n${blocks.join('')}`;
}
const NODE = ['--module', 'nodenext', '--lib', 'es2022,dom'];
const BUNDLER = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable', '--jsx', 'react-jsx'];

test('a program in TypeScript compiles with the types of the package', async () => {
  // What Node.js adds to the platform.
  await compile({ 'program.ts': PROGRAM, 'node.d.ts': 'declare const process: { argv: string[] };\n' }, ...NODE);
  assert.match(await readFile(join(folder, 'out/program.js'), 'utf8'), /omniassist-client/);
});

test('a bundle of the package has no path of the machine that built it', async () => {
  const root = join(folder, 'node_modules/omniassist-client');
  const names = (await readdir(root)).filter((name) => name.endsWith('.js'));
  assert.ok(names.length > 3);
  for (const name of names) assert.doesNotMatch(await readFile(join(root, name), 'utf8'), /import\.meta/, name);
});

test('the program gets an answer with a tool from a server', async (t) => {
  const server = await startQuickstart(DEMO);
  t.after(() => server.stop());
  const { stdout } = await run('node', ['out/program.js', server.api], { cwd: folder });
  const { changes, ...shown } = JSON.parse(stdout);
  assert.deepEqual(shown, {
    status: 'ready',
    roles: ['user', 'assistant'],
    tools: 1,
    bullet: '- Opened /orders',
  });
  assert.ok(changes > 3, `${changes}`);
});

test('a page in TypeScript has the types of widget.js of the server', async () => {
  const readme = await readFile(join(folder, 'node_modules/omniassist-client/README.md'), 'utf8');
  assert.ok(readme.includes(WIDGET_TYPES));
  await compile({ 'page.ts': PAGE, 'widget.d.ts': WIDGET_TYPES }, ...BUNDLER);
});

test('the plugin for Vite and the scanner of the package find the routes of an application', async () => {
  await symlink(join(widget, 'node_modules/typescript'), join(folder, 'node_modules/typescript'));
  await mkdir(join(folder, 'app'));
  await writeFile(join(folder, 'app/routes.jsx'), "createBrowserRouter([{ path: '/orders', element: 1 }]);");
  // The path of the command is a link with some package managers.
  await symlink('node_modules/omniassist-client/vite/scan.mjs', join(folder, 'scan.mjs'));
  await run('node', ['scan.mjs', 'app', '--out', 'routes.json'], { cwd: folder });
  const text = await readFile(join(folder, 'routes.json'), 'utf8');
  assert.deepEqual(JSON.parse(text).routes, [{ path: '/orders' }]);

  await compile({ 'config.ts': CONFIG, 'routes.ts': ROUTES, 'widget.d.ts': WIDGET_TYPES }, ...BUNDLER);
  const { stdout } = await run('node', ['out/config.js'], { cwd: folder });
  assert.equal(stdout, `export default ${text}\n`);
});

for (const [framework, source] of Object.entries({ react: REACT, vue: VUE })) {
  test(`an application with its own ${framework} compiles with the hooks, has one ${framework}, and gets an answer`, async (t) => {
    for (const name of OWN) await cp(join(widget, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true });
    const files = { [`${framework}.ts`]: source, 'untyped.d.ts': UNTYPED };
    if (framework === 'react') files['examples.tsx'] = await examples('tsx');
    await compile(files, ...BUNDLER);
    const { metafile, outputFiles } = await build({
      absWorkingDir: folder,
      bundle: true,
      define: { 'process.env.NODE_ENV': '"production"' },
      entryPoints: [`src/${framework}.ts`],
      format: 'esm',
      logLevel: 'error',
      metafile: true,
      write: false,
    });
    const manifests = { react: /\/react\/index\.js$/, vue: /\/runtime-core\.esm-bundler\.js$/ };
    assert.equal(Object.keys(metafile.inputs).filter((path) => manifests[framework].test(path)).length, 1);

    const [browser, server] = await Promise.all([openBrowser(), startQuickstart(DEMO)]);
    t.after(() => Promise.all([browser.close(), server.stop()]));
    const { page, close } = await openBefore(browser, server.origin, outputFiles[0].text, { body: '<div id="root"></div>' });
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.locator('li', { hasText: 'Ada Lovelace' }).waitFor();
    if (framework === 'react') {
      assert.match(await page.evaluate(() => window.rendered), /ready<!-- --> <!-- -->dark.*<omniassist-chat/);
      await page.locator('output', { hasText: 'ready dark 0' }).waitFor();
    }
    // Vue tries to make a policy of its own, and works without it.
    await close({ expected: /TrustedTypePolicy named 'vue'/ });
  });
}
