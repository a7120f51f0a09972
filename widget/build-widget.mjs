// Builds the modules of the widget, their compressed forms, and the table by which the server finds them.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from 'node:zlib';
import zopfli from '@gfx/zopfli';
import { build } from 'esbuild';
import { minify } from 'terser';

const ENTRY = 'src/widget.ts';
/** The name of the entry in the folder of the modules at the server. */
const NAME = 'widget.js';
/** The names under which a module exports what others share with it. */
const SHORT = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
/** The limits of the modules that a page loads at once, and of all others together: bytes after gzip. */
const LIMITS = { eager: 40 * 1024, lazy: 64 * 1024 };

const CODINGS = {
  // A gzip file like others, which takes longer to make and is 3 % smaller.
  gz: { pack: (bytes) => zopfli.gzipAsync(bytes, { numiterations: 60 }).then(Buffer.from), unpack: gunzipSync },
  br: {
    pack: (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    unpack: brotliDecompressSync,
  },
};

/** Writes `assets/widget/` and `src/widget/assets.rs` in the folder of the server's crate, or checks them. */
export async function buildWidget(options, crate, isCheck) {
  const folder = `${crate}assets/widget/`;
  const present = existsSync(folder) ? readdirSync(folder) : [];
  const modules = await bundle(options);
  const sums = modules.map(({ name, sha384 }) => `${name} ${sha384}`);
  const folderName = createHash('sha256').update(sums.join()).digest('hex').slice(0, 12);
  // Its name at the server has no hash, since lazy modules import it.
  modules[0].path = `widget-${folderName}.js`;
  const files = new Map();
  for (const module of modules) {
    files.set(module.path, module.code);
    for (const [ending, coding] of Object.entries(CODINGS)) {
      const packed = await compressed(`${folder}${module.path}.${ending}`, module.code, coding, isCheck);
      files.set(`${module.path}.${ending}`, packed);
      module[ending] = packed.length;
    }
  }
  files.set('assets.json', Buffer.from(`${JSON.stringify(listing(folderName, modules), null, 2)}\n`));
  const table = `${crate}src/widget/assets.rs`;
  const rust = rustTable(folderName, modules);

  const stale = present.filter((name) => !files.has(name));
  if (isCheck) {
    const differ = [...files].filter(
      ([name, bytes]) => !present.includes(name) || !bytes.equals(readFileSync(folder + name)),
    );
    const wrong = [...differ.map(([name]) => name), ...stale];
    if (readFileSync(table, 'utf8') !== rust) wrong.push('assets.rs');
    if (wrong.length > 0)
      throw new Error(`not what the sources of the widget build to: ${wrong.join(', ')}. Run \`npm run build\``);
  } else {
    mkdirSync(folder, { recursive: true });
    mkdirSync(dirname(table), { recursive: true });
    for (const name of stale) rmSync(folder + name);
    for (const [name, bytes] of files) writeFileSync(folder + name, bytes);
    writeFileSync(table, rust);
  }
  const tooLarge = report(modules);
  if (isCheck && tooLarge.length > 0) throw new Error(`the widget is too large: ${tooLarge.join('; ')}`);
}

/** Bundles the widget. The first module is the entry, and all others are loaded when they are needed. */
async function bundle(options) {
  const split = { ...options, chunkNames: '[name]-[hash]', entryNames: '[name]-[hash]', metafile: true, outdir: 'out' };
  const entries = async (entryPoints) => {
    const { metafile, outputFiles } = await build({ ...split, splitting: true, entryPoints });
    const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
    for (const { path, text } of outputFiles) outputs.get(basename(path)).text = text;
    return outputs;
  };
  const sources = [...(await entries([ENTRY])).values()].map(({ entryPoint }) => entryPoint);
  const lazySources = sources.filter((source) => source !== undefined && source !== ENTRY).sort();
  // Built as entries too, so that each is named after its folder and not `index`.
  const named = [ENTRY, ...lazySources].map((source) => ({ in: source, out: nameOf(source) }));
  const outputs = await entries(named);
  const [entry] = [...outputs].find(([, { entryPoint }]) => entryPoint === ENTRY);
  const eager = reachable(entry, outputs);
  const homes = homesOf(entry, eager, outputs);
  const shared = new Map();
  for (const [name, output] of outputs) {
    output.home = homes.get(name);
    output.text = linked(output.text, output.home, homes, shared);
  }
  const lazy = [...new Set(homes.values())].filter((name) => name !== NAME).sort();
  const made = async (name, load, from) => described(name, load, await joined(options, outputs, from, name, shared));
  return Promise.all([made(NAME, 'eager', entry), ...lazy.map((name) => made(name, 'lazy', name))]);
}

/**
 * Returns the module into which each is joined. What several lazy modules share is a part of the one that shares most, so
 * that it is compressed with it. No two of them import each other, since there is one order.
 */
function homesOf(entry, eager, outputs) {
  const homes = new Map([...eager].map((name) => [name, NAME]));
  const weight = (name) => {
    const parts = [...reachable(name, outputs)].filter((part) => part !== name && !homes.has(part));
    return parts.reduce((total, part) => total + outputs.get(part).bytes, outputs.get(name).bytes / 1e6);
  };
  const lazy = [...outputs.keys()].filter((name) => name !== entry && outputs.get(name).entryPoint !== undefined);
  const weights = new Map(lazy.map((name) => [name, weight(name)]));
  for (const name of lazy.sort((one, other) => weights.get(other) - weights.get(one)))
    for (const part of reachable(name, outputs)) if (!homes.has(part)) homes.set(part, name);
  return homes;
}

function described(name, load, text) {
  const code = Buffer.from(text);
  return {
    name,
    path: name,
    code,
    load,
    bytes: code.length,
    sha384: createHash('sha384').update(code).digest('base64'),
  };
}

/**
 * Returns the text of a module of `home`, which imports from the other joined modules what it imported from their parts.
 * `shared` gets the names of these exports.
 */
function linked(text, home, homes, shared) {
  return text.replace(/import(?:\{([^}]*)\}from)?"\.\/([^"]+)";/g, (statement, list, module) => {
    const other = homes.get(module);
    if (other === home) return statement;
    // Without names, it is for the effects of a module, which the entry has had.
    if (list === undefined) return other === NAME ? '' : `import"./${other}";`;
    const imports = list.split(',').map((pair) => {
      const [member, name = member] = pair.split(' as ');
      const key = `${member} as $ from ${module}`;
      if (!shared.has(key)) shared.set(key, { home: other, module, member, name: SHORT[shared.size] ?? `$${shared.size}` });
      return `${shared.get(key).name} as ${name}`;
    });
    return `import{${imports}}from"./${other}";`;
  });
}

/** Returns the text of a module joined with its parts. One module is smaller, and one request. */
async function joined(options, outputs, from, name, shared) {
  const exports = [...shared.values()]
    .filter(({ home }) => home === name)
    .map(({ member, module, name }) => `export {${member} as ${name}} from "./${module}";`);
  const contents = [`export * from "./${from}";`, ...exports].join('\n');
  const isOther = (path) => path === NAME || (path !== from && outputs.get(path)?.home !== name);
  const modules = (here) => {
    here.onResolve({ filter: /./ }, ({ kind, path }) =>
      kind === 'dynamic-import' || isOther(basename(path))
        ? { path, external: true }
        : { path: basename(path), namespace: 'built' },
    );
    here.onLoad({ filter: /./, namespace: 'built' }, ({ path }) => ({ contents: outputs.get(path).text }));
  };
  const plugins = [{ name: 'modules', setup: modules }];
  const { outputFiles } = await build({ ...options, plugins, stdin: { contents, sourcefile: name } });
  const [{ text }] = outputFiles;
  // `unsafe` writes `String(value)` as `'' + value`. No value is a symbol, or an object with a number.
  const compress = { passes: 4, unsafe: true, unsafe_arrows: true };
  const nameCache = { vars: { props: importedNames(text) } };
  // It finds shorter names than esbuild.
  const { code } = await minify(text, { compress, ecma: 2022, module: true, nameCache });
  return withOneImport(code);
}

/** Returns the names of what a module imports, by those that it uses. With the same names, no import needs an `as`. */
function importedNames(text) {
  const locals = new Map();
  for (const [, list] of text.matchAll(/import\{([^}]*)\}from"/g)) {
    for (const pair of list.split(',')) {
      const [name, local = name] = pair.split(' as ');
      // Parts of a joined module may import the same under several names.
      if (!locals.has(name)) locals.set(name, local);
    }
  }
  return Object.fromEntries([...locals].map(([name, local]) => [`$${local}`, name]));
}

/** Returns the text of a module that imports from each other module once. */
function withOneImport(code) {
  const lists = new Map();
  const rest = code.replace(/import\{([^}]*)\}from("[^"]+");?/g, (_, list, other) => {
    lists.set(other, [...(lists.get(other) ?? []), list]);
    return '';
  });
  return [...lists].map(([other, list]) => `import{${list}}from${other};`).join('') + rest;
}

const nameOf = (source) => {
  const name = basename(source).replace(/\.\w+$/, '');
  return name === 'index' ? basename(dirname(source)) : name;
};

/** Returns the modules that are loaded with `entry`, itself included. */
function reachable(entry, outputs) {
  const found = new Set([entry]);
  for (const name of found)
    for (const { kind, path } of outputs.get(name).imports) if (kind === 'import-statement') found.add(basename(path));
  return found;
}

/**
 * Returns the compressed form of a module. Compressors differ between versions of Node.js, so a file that unpacks to the
 * module is kept.
 */
async function compressed(path, code, { pack, unpack }, isCheck) {
  if (existsSync(path)) {
    const packed = readFileSync(path);
    try {
      if (unpack(packed).equals(code)) return packed;
    } catch (error) {
      if (isCheck) throw new Error(`${path} cannot be unpacked: ${error.message}`);
    }
    if (isCheck) throw new Error(`${path} does not unpack to the module: run \`npm run build\``);
  }
  return pack(code);
}

function listing(folder, modules) {
  const files = modules.map(({ name, path, sha384, bytes, gz, br, load }) => ({
    name,
    path,
    sha384,
    bytes,
    gz,
    br,
    load,
  }));
  return { folder, files };
}

function rustTable(folder, [entry, ...lazy]) {
  const asset = ({ name, path, sha384 }) => `Asset {
    name: "${name}",
    integrity: "sha384-${sha384}",
    identity: include_bytes!("../../assets/widget/${path}"),
    gzip: include_bytes!("../../assets/widget/${path}.gz"),
    brotli: include_bytes!("../../assets/widget/${path}.br"),
}`;
  return `//! The modules of the widget. \`npm run build\` in \`widget/\` writes this file.

use super::asset::Asset;

/// The name of the folder of the modules, which changes with each of them.
pub(super) const FOLDER: &str = "${folder}";

/// The module that a page loads at once.
pub(super) static ENTRY: Asset = ${asset(entry)};

/// The modules that it loads when they are needed.
#[rustfmt::skip]
pub(super) static LAZY: &[Asset] = &[
${lazy.map((module) => `${asset(module)},\n`).join('')}];
`;
}

/** Prints the sizes. Returns the sums that are above their limits. */
function report(modules) {
  const row = (name, load, sizes) =>
    console.log(`${name.padEnd(28)} ${load.padEnd(6)}${sizes.map((size) => String(size).padStart(9)).join('')}`);
  row('module', '', ['bytes', 'gzip', 'br']);
  for (const { path, load, bytes, gz, br } of modules) row(path, load, [bytes, gz, br]);
  const tooLarge = [];
  for (const [load, limit] of Object.entries(LIMITS)) {
    const those = modules.filter((module) => module.load === load);
    const sum = (member) => those.reduce((total, module) => total + module[member], 0);
    row(`all ${load} (limit ${limit} gzip)`, '', [sum('bytes'), sum('gz'), sum('br')]);
    if (sum('gz') > limit) tooLarge.push(`${load}: ${sum('gz')} of ${limit} bytes after gzip`);
  }
  return tooLarge;
}
