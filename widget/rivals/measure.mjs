// Prints the sizes of what a page loads for other chats, each with its smallest import, and for the widget. The pages
// are built as an application builds them: for production, minified, and split where the packages load parts later.
// Fonts are left out.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const react = `import { createElement } from 'react'; import { createRoot } from 'react-dom/client';
const show = (...element) => createRoot(document.body).render(createElement(...element));`;

const PAGES = {
  'deep-chat': `import 'deep-chat'; document.body.append(document.createElement('deep-chat'));`,
  '@copilotkit/react-core and react-ui': `${react}
    import { CopilotKit } from '@copilotkit/react-core';
    import { CopilotPopup } from '@copilotkit/react-ui';
    import '@copilotkit/react-ui/styles.css';
    show(CopilotKit, { runtimeUrl: '/copilotkit' }, createElement(CopilotPopup));`,
  '@assistant-ui/react, unstyled': `${react}
    import { AssistantRuntimeProvider, useLocalRuntime } from '@assistant-ui/react';
    import { ComposerPrimitive, MessagePrimitive, ThreadPrimitive } from '@assistant-ui/react';
    const Message = () => createElement(MessagePrimitive.Root, null, createElement(MessagePrimitive.Parts));
    const Composer = () =>
      createElement(
        ComposerPrimitive.Root, null, createElement(ComposerPrimitive.Input), createElement(ComposerPrimitive.Send),
      );
    const Thread = () =>
      createElement(ThreadPrimitive.Root, null, createElement(ThreadPrimitive.Messages, { components: { Message } }));
    const Chat = () => {
      const runtime = useLocalRuntime({ run: async () => ({ content: [] }) });
      return createElement(AssistantRuntimeProvider, { runtime }, createElement(Thread), createElement(Composer));
    };
    show(Chat);`,
  'streamdown (Markdown only)': `${react}
    import { Streamdown } from 'streamdown';
    show(Streamdown, null, '# Hello');`,
};

const folder = fileURLToPath(new URL('.', import.meta.url));

function row(name, version, sizes) {
  console.log(`${name.padEnd(38)}${version.padEnd(10)}${sizes.map((size) => String(size).padStart(12)).join('')}`);
}

const gzipped = (contents) => gzipSync(contents, { level: 9 });

/** Returns the sizes of a page's first load, and of what it loads later: bytes, and bytes after gzip. */
async function measure(contents) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    bundle: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    format: 'esm',
    legalComments: 'none',
    loader: { '.ttf': 'empty', '.woff': 'empty', '.woff2': 'empty' },
    logLevel: 'error',
    metafile: true,
    minify: true,
    outdir: 'out',
    platform: 'browser',
    splitting: true,
    stdin: { contents, resolveDir: folder, sourcefile: 'page.js' },
    target: 'es2022',
    write: false,
  });
  const outputs = metafile.outputs;
  const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === 'page.js');
  const first = new Set([entry, outputs[entry].cssBundle].filter(Boolean));
  for (const path of first)
    for (const { kind, path: other } of outputs[path].imports) if (kind === 'import-statement') first.add(other);
  const sizes = { first: [0, 0], later: [0, 0] };
  for (const { path, contents } of outputFiles) {
    const sum = first.has(path.slice(folder.length)) ? sizes.first : sizes.later;
    sum[0] += contents.length;
    sum[1] += gzipped(contents).length;
  }
  return [...sizes.first, ...sizes.later];
}

row('chat', 'version', ['first', 'gzip', 'later', 'gzip']);
// The server has smaller gzip files, so these are compressed as those of the others are.
const assets = new URL('../../omniassist-server/assets/widget/', import.meta.url);
const { files } = JSON.parse(readFileSync(new URL('assets.json', assets)));
const sizesOf = (load) => {
  const texts = files.filter((file) => file.load === load).map(({ path }) => readFileSync(new URL(path, assets)));
  return [texts, texts.map(gzipped)].map((each) => each.reduce((total, { length }) => total + length, 0));
};
row('OmniAssist', '', [...sizesOf('eager'), ...sizesOf('lazy')]);
for (const [name, page] of Object.entries(PAGES)) {
  const manifest = new URL(`node_modules/${name.split(/[ ,]/)[0]}/package.json`, import.meta.url);
  row(name, JSON.parse(readFileSync(manifest)).version, await measure(page));
}
