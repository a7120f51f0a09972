import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// The page and the quickstart are one origin for the browser, in `npm run dev` as in `npm run preview`.
const quickstart = process.env.QUICKSTART_URL ?? 'http://127.0.0.1:3000';
const proxy = { '/assistant': quickstart, '/api': quickstart };

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  esbuild: { jsx: 'automatic' },
  resolve: {
    // CopilotKit's Markdown brings diagrams and the colours of 300 languages, its inspector 1,500 icons. Neither is
    // needed here; without them the build takes half the time, and gives 9 MB in place of 18.
    alias: [
      { find: /^(mermaid|@copilotkit\/web-inspector)$/, replacement: here('src/absent.js') },
      { find: /^shiki$/, replacement: 'shiki/bundle/web' },
    ],
  },
  build: { reportCompressedSize: false, chunkSizeWarningLimit: 3000 },
  server: { host: '127.0.0.1', proxy },
  preview: { host: '127.0.0.1', proxy },
});
