// The build of the widget's modules, with sources of the tests' own in folders of their own.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const widget = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = {
  'widget.ts': `import { shared } from './chat/shared.js';
    export const name = shared;
    export const load = async () => [await import('./page/index.js'), await import('./i18n/de.js')];`,
  'chat/shared.ts': `export const shared = 'shared ' + import.meta.url;`,
  'page/index.ts': `import { shared } from '../chat/shared.js'; export const page = 'page of ' + shared;`,
  'i18n/de.ts': `export const send = 'Senden';`,
  'components/index.ts': `export const mount = () => {};`,
  'playground/index.ts': `import { name } from '../widget.js'; document.title = name;`,
  'playground/page.html': '<!doctype html>',
};

const folders = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** Makes a clone with these sources below `folder` of a new folder. Returns its functions. */
async function clone(sources = SOURCES, folder = 'clone') {
  const top = await mkdtemp(join(tmpdir(), 'omniassist-widget-'));
  folders.push(top);
  const root = join(top, folder);
  const assets = join(root, 'omniassist-server/assets/widget');
  await mkdir(join(root, 'omniassist-server/assets'), { recursive: true });
  for (const [name, text] of Object.entries(sources)) {
    const path = join(root, 'widget/src', name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
  }
  for (const file of (await readdir(widget)).filter((name) => /^build.*\.mjs$|^package\.json$/.test(name)))
    await cp(join(widget, file), join(root, 'widget', file));
  await symlink(join(widget, 'node_modules'), join(root, 'widget/node_modules'));
  const built = {
    assets,
    table: join(root, 'omniassist-server/src/widget/assets.rs'),
    source: (name) => join(root, 'widget/src', name),
    list: async () => (await readdir(assets)).sort(),
    json: async () => JSON.parse(await readFile(join(assets, 'assets.json'), 'utf8')),
    build: () => promisify(execFile)(process.execPath, [join(root, 'widget/build.mjs')]),
    check: () => promisify(execFile)(process.execPath, [join(root, 'widget/build.mjs'), '--check']),
  };
  await built.build();
  return built;
}

const refuses = (built, why) => assert.rejects(built.check(), ({ stderr }) => (assert.match(stderr, why), true));

test('another folder gives the same bytes', async () => {
  const [one, other] = await Promise.all([clone(), clone(SOURCES, 'a/much longer/path')]);
  const names = await one.list();
  assert.deepEqual(await other.list(), names);
  for (const name of names)
    assert.deepEqual(await readFile(join(other.assets, name)), await readFile(join(one.assets, name)), name);
  assert.equal(await readFile(other.table, 'utf8'), await readFile(one.table, 'utf8'));
  await other.check();
});

test('each module has its hash, its compressed forms and its kind', async () => {
  const built = await clone();
  const { folder, files } = await built.json();
  const kinds = files.map(({ name, load }) => [name.replace(/-\w{8}\.js$/, ''), load]);
  assert.deepEqual(kinds, [
    ['widget.js', 'eager'],
    ['de', 'lazy'],
    ['page', 'lazy'],
  ]);
  assert.equal(files[0].path, `widget-${folder}.js`);
  const table = await readFile(built.table, 'utf8');
  assert.ok(table.includes(`"${folder}"`));
  for (const { path, sha384, bytes, gz, br } of files) {
    const read = (ending) => readFile(join(built.assets, path + ending));
    const code = await read('');
    assert.deepEqual([code.length, (await read('.gz')).length, (await read('.br')).length], [bytes, gz, br]);
    assert.equal(createHash('sha384').update(code).digest('base64'), sha384);
    assert.deepEqual([gunzipSync(await read('.gz')), brotliDecompressSync(await read('.br'))], [code, code]);
    assert.ok(table.includes(`sha384-${sha384}`) && table.includes(`/${path}.br"`), path);
    assert.ok(!code.includes(built.assets.slice(0, 8)), 'no path of this machine');
  }
});

test('lazy modules share the state of the entry', async () => {
  const built = await clone({
    ...SOURCES,
    'widget.ts': `import { seen, note as tell } from './chat/shared.js';
      tell('entry');
      export { seen };
      export const load = async () => [await import('./page/index.js'), await import('./i18n/de.js')];`,
    'chat/shared.ts': `export const seen: string[] = []; export let last = '';
      export function note(name: string) { seen.push(name); last = name; }`,
    'page/index.ts': `import { last, note } from '../chat/shared.js'; import '../i18n/both.js';
      const before = last; note('page'); export const page = [before, last];`,
    'i18n/de.ts': `import { note } from '../chat/shared.js'; import './both.js'; note('de');`,
    'i18n/both.ts': `import { note } from '../chat/shared.js'; note('both');`,
  });
  // As the server names them.
  const { files } = await built.json();
  for (const { name, path } of files) await cp(join(built.assets, path), join(built.assets, '../served', name));
  await writeFile(join(built.assets, '../served/package.json'), '{"type":"module"}');
  const entry = await import(pathToFileURL(join(built.assets, '../served/widget.js')));
  const [page] = await entry.load();
  assert.deepEqual(entry.seen, ['entry', 'both', 'page', 'de']);
  assert.deepEqual(page.page, ['both', 'page']);
});

test('a change of any module changes the folder, and removes what is stale', async () => {
  const built = await clone();
  const before = await built.json();
  await writeFile(built.source('i18n/de.ts'), `export const send = 'Absenden';`);
  await refuses(built, /not what the sources of the widget build to/);
  await built.build();
  const { folder, files } = await built.json();
  assert.notEqual(folder, before.folder);
  const expected = files.flatMap(({ path }) => [path, `${path}.br`, `${path}.gz`]);
  assert.deepEqual(await built.list(), [...expected, 'assets.json'].sort());
  await built.check();
});

test('the check refuses files that are not current', async () => {
  const built = await clone();
  const { files } = await built.json();
  const entry = join(built.assets, files[0].path);
  const lazy = join(built.assets, files.at(-1).path);
  for (const [path, change, why] of [
    [entry, (bytes) => Buffer.concat([bytes, Buffer.from(';')]), /widget-\w+\.js/],
    [`${lazy}.gz`, (bytes) => bytes.subarray(0, -9), /page-\w+\.js\.gz cannot be unpacked/],
    [`${lazy}.br`, () => readFile(`${entry}.br`), /page-\w+\.js\.br does not unpack to the module/],
    [built.table, (bytes) => Buffer.concat([bytes, Buffer.from('\n')]), /assets\.rs/],
    [join(built.assets, 'assets.json'), () => Buffer.from('{}'), /assets\.json/],
    [join(built.assets, 'old-ABCDEFGH.js'), () => Buffer.from(''), /old-ABCDEFGH\.js/],
  ]) {
    const current = await readFile(path).catch(() => undefined);
    await writeFile(path, await change(current));
    await refuses(built, why);
    await (current ? writeFile(path, current) : rm(path));
  }
  await rm(`${lazy}.br`);
  await refuses(built, /page-\w+\.js\.br/);
  await built.build();
  await built.check();
});

test('the check refuses modules that are too large', async () => {
  // Words that do not compress.
  const large = (name) =>
    `export const ${name} = '${Array.from({ length: 3000 }, (_, at) =>
      createHash('sha256')
        .update(name + at)
        .digest('base64'),
    ).join('')}';`;
  for (const [source, why] of [
    ['chat/shared.ts', /too large: eager/],
    ['page/index.ts', /too large: lazy/],
  ]) {
    const built = await clone();
    await writeFile(built.source(source), large(source.startsWith('chat') ? 'shared' : 'page'));
    await built.build();
    await refuses(built, why);
  }
});
