// A plugin for Vite: keeps `routes.json` current in development, and adds it to the build.
//
//     import omniassist from './omniassist.mjs';
//     export default { plugins: [omniassist()] };
//
// Code of the application gets the same data by `import manifest from 'virtual:omniassist'`.

import { join, resolve, sep } from 'node:path';
import { scan, textOf } from './scan.mjs';

const MODULE = 'virtual:omniassist';

/**
 * Returns the plugin. `src` is the folder of the sources, `src` of the project by default. `file` is the name of the
 * manifest in the build. `files` is that of `scan`.
 */
export default function omniassist({ src = 'src', file = 'routes.json', files = false } = {}) {
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
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : undefined),
    load: (id) => (id === `\0${MODULE}` ? `export default ${read()}` : undefined),
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (request.url?.split('?')[0] !== join(base, file).split(sep).join('/')) return next();
        response.setHeader('content-type', 'application/json; charset=utf-8');
        response.setHeader('cache-control', 'no-cache');
        response.end(read());
      });
    },
    handleHotUpdate({ file: changed, server }) {
      if (!resolve(changed).startsWith(root + sep)) return;
      text = undefined;
      const module = server.moduleGraph.getModuleById(`\0${MODULE}`);
      if (module) server.moduleGraph.invalidateModule(module);
    },
    generateBundle() {
      text = undefined;
      this.emitFile({ type: 'asset', fileName: file, source: read() });
    },
  };
}
