// The npm package of the chat, as a program in TypeScript uses it: installed from its archive, compiled, and run.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DEMO, startQuickstart } from '../../tests/lib/quickstart.mjs';
import { program } from '../testing/programs.mjs';

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

test('a program in TypeScript compiles with the types of the package', async () => {
  const options = '--strict --skipDefaultLibCheck --module nodenext --target es2022 --lib es2022,dom --outDir out';
  // What Node.js adds to the platform.
  await writeFile(join(folder, 'src/node.d.ts'), 'declare const process: { argv: string[] };\n');
  const files = ['src/program.ts', 'src/node.d.ts'];
  const compiler = join(widget, 'node_modules/typescript/bin/tsc');
  await run('node', [compiler, ...options.split(' '), ...files], { cwd: folder }).catch(({ stdout }) => assert.fail(stdout));
  assert.match(await readFile(join(folder, 'out/program.js'), 'utf8'), /omniassist-client/);
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

