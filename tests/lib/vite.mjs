// Serves a built page of `examples/` in front of a server.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const EXAMPLES = new URL('../../examples/', import.meta.url);

/**
 * Starts the example's own Vite with its own settings on a free port.
 * `drop` breaks all connections to it.
 * @returns {Promise<{origin: string, drop: () => void, stop: () => Promise<void>}>}
 */
export async function startPreview(example, server) {
  const root = fileURLToPath(new URL(`${example}/`, EXAMPLES));
  if (!existsSync(`${root}dist/index.html`)) {
    throw new Error(`examples/${example} is not built: run \`cargo xtask test browser\`, or npm ci and npm run build there`);
  }
  // Vite's settings read the server's address from this variable.
  process.env.QUICKSTART_URL = server.origin;
  const { preview } = await import(pathToFileURL(createRequire(`${root}package.json`).resolve('vite')));
  const served = await preview({ root, logLevel: 'error', preview: { port: 0 } });
  const { port } = served.httpServer.address();
  return {
    origin: `http://127.0.0.1:${port}`,
    drop: () => served.httpServer.closeAllConnections(),
    async stop() {
      served.httpServer.closeAllConnections();
      await served.close();
    },
  };
}

/** Starts a server and a page in front of it. Returns them as one app with the origin of the page, and `server`. */
export async function startBehind(example, start) {
  const server = await start();
  try {
    const page = await startPreview(example, server);
    return { ...server, server, origin: page.origin, drop: page.drop, stop: () => page.stop().finally(server.stop) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
