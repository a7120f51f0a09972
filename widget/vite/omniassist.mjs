// A plugin for Vite: keeps `routes.json` current in development, and adds it to the build.
//
//     import omniassist from 'omniassist-client/vite';
//     export default { plugins: [omniassist()] };
//
// Code of the application gets the same data by `import manifest from 'virtual:omniassist'`.

import { join, resolve, sep } from 'node:path';
import { scan, textOf } from './scan.mjs';

const MODULE = 'virtual:omniassist';

/**
 * Returns the plugin. `src` is the folder of the sources, `src` of the project by default. `file` is the name of the
 * manifest in the build, `routes.json` by default. `files` is that of `scan`, `false` by default.
 * `widget` is the path of the module that the server of the assistant has, `/assistant/widget.js` by default.
 */
export default function omniassist(options = {}) {
  const { src = 'src', file = 'routes.json', files = false, widget = '/assistant/widget.js' } = options;
  let root = resolve(src);
  let base = '/';
  let text;
  const read = () => {
    if (text === undefined) {
      const { manifest, warnings } = scan(root, { files });
      for (const warning of warnings) console.warn(`omniassist: ${warning}`);
      text = textOf(manifest);
    }
    return text;
  };
  return {
    name: 'omniassist',
    configResolved(config) {
      root = resolve(config.root, src);
      base = config.base;
    },
    resolveId(id) {
      if (id === MODULE) return `\0${MODULE}`;
      return id === widget ? { id, external: true } : undefined;
    },
    load(id) {
      if (id === `\0${MODULE}`) return `export default ${read()}`;
      // The development server tries to load it before the browser requests it, and the proxy answers the browser.
      return id === widget ? '' : undefined;
    },
    configureServer(server) {
      // The watcher reports added and deleted files too, which `handleHotUpdate` does not.
      server.watcher.on('all', (_, changed) => {
        if (!resolve(changed).startsWith(root + sep)) return;
        text = undefined;
        const module = server.moduleGraph.getModuleById(`\0${MODULE}`);
        if (module) server.moduleGraph.invalidateModule(module);
      });
      server.middlewares.use((request, response, next) => {
        if (request.url?.split('?')[0] !== join(base, file).split(sep).join('/')) return next();
        response.setHeader('content-type', 'application/json; charset=utf-8');
        response.setHeader('cache-control', 'no-cache');
        response.end(read());
      });
    },
    generateBundle() {
      text = undefined;
      this.emitFile({ type: 'asset', fileName: file, source: read() });
    },
  };
}
