// The generated TypeScript: it compiles under `strict`, and a program that uses it wrongly does not.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

import { DEMO, startQuickstart } from '../lib/quickstart.mjs';

let app;
let declarations;
before(async () => {
  app = await startQuickstart(DEMO);
  const response = await fetch(`${app.api}/types.d.ts`);
  assert.equal(response.status, 200);
  declarations = await response.text();
});
after(() => app?.stop());

/** Compiles a program beside the declarations; returns what the compiler says. The folder is in this one, so that
 * the program can import the official package. */
async function compile(program) {
  const folder = await mkdtemp(join(fileURLToPath(new URL('.', import.meta.url)), 'types-'));
  try {
    await writeFile(join(folder, 'types.d.ts'), declarations);
    await writeFile(join(folder, 'program.ts'), program);
    const compiled = ts.createProgram([join(folder, 'program.ts'), join(folder, 'types.d.ts')], {
      noEmit: true,
      strict: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ES2022,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      types: [],
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    });
    // Only the program and the declarations: the official package's own types are not under test.
    return [join(folder, 'program.ts'), join(folder, 'types.d.ts')].flatMap((file) => {
      const source = compiled.getSourceFile(file);
      return [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)].map((diagnostic) =>
        ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test('the declarations compile', async () => {
  assert.match(declarations, /order_status/);
  assert.deepEqual(await compile('import type * as T from "./types";\nexport type All = typeof T;\n'), []);
});
