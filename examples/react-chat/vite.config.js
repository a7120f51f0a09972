import { defineConfig } from 'vite';

// The page and the quickstart are one origin for the browser, in `npm run dev` as in `npm run preview`.
const quickstart = process.env.QUICKSTART_URL ?? 'http://127.0.0.1:3000';
const proxy = { '/assistant': quickstart, '/api': quickstart };

export default defineConfig({
  esbuild: { jsx: 'automatic' },
  server: { host: '127.0.0.1', proxy },
  preview: { host: '127.0.0.1', proxy },
});
