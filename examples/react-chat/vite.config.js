import { defineConfig } from 'vite';

// The browser sees the page and the quickstart as one origin, in `npm run dev` and in `npm run preview`.
const target = process.env.QUICKSTART_URL ?? 'http://127.0.0.1:3000';
// Vite would leave an answer open for ever if the server dies in the middle of it.
const configure = (proxy) =>
  proxy.on('proxyRes', (answer, _, response) => answer.on('close', () => answer.complete || response.destroy()));
const proxy = { '/assistant': { target, configure }, '/api': { target } };

export default defineConfig({
  resolve: { dedupe: ['react'] },
  esbuild: { jsx: 'automatic' },
  build: { rollupOptions: { input: ['index.html', 'components.html'] } },
  // `../react-parts` and the module of the components have no packages of their own.
  server: { host: '127.0.0.1', proxy, fs: { allow: ['..', '../../omniassist-server/assets'] } },
  preview: { host: '127.0.0.1', proxy },
});
