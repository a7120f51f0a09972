import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// The browser sees the page and the quickstart as one origin, in `npm run dev` and in `npm run preview`.
const target = process.env.QUICKSTART_URL ?? 'http://127.0.0.1:3000';
// Vite would leave an answer open for ever if the server dies in the middle of it.
const configure = (proxy) =>
  proxy.on('proxyRes', (answer, _, response) => answer.on('close', () => answer.complete || response.destroy()));
const proxy = { '/assistant': { target, configure }, '/api': { target } };

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  esbuild: { jsx: 'automatic' },
  resolve: {
    dedupe: ['react'],
    // CopilotKit's Markdown brings diagrams and the colours of 300 languages, its inspector 1,500 icons. Neither is
    // needed here; without them the build takes half the time, and gives 9 MB in place of 18.
    alias: [
      { find: /^(mermaid|@copilotkit\/web-inspector)$/, replacement: here('src/absent.js') },
      { find: /^shiki$/, replacement: 'shiki/bundle/web' },
    ],
  },
  build: { reportCompressedSize: false, chunkSizeWarningLimit: 3000 },
  // `../react-parts` has no packages of its own.
  server: { host: '127.0.0.1', proxy, fs: { allow: ['..'] } },
  preview: { host: '127.0.0.1', proxy },
});
