// What the modules contain of the files that are no code: style sheets, schemas and texts, in a short form.

import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

/** Style sheets become strings, since a page may allow no style elements. */
export const styles = {
  name: 'styles',
  setup(here) {
    here.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: 'es2022' });
      return { contents: withUnit(code.trim()), loader: 'text' };
    });
  },
};

/** The style sheets, schemas without the descriptions for models, and texts without their names. */
export const data = {
  name: 'data',
  setup(here) {
    styles.setup(here);
    here.onLoad({ filter: /schemas\.json$/ }, ({ path }) => {
      const contents = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), (key, value) =>
        key === 'description' && typeof value === 'string' ? undefined : value,
      );
      return { contents, loader: 'json' };
    });
    here.onLoad({ filter: /\bi18n\W\w+\.json$/ }, ({ path }) => {
      const groups = Object.entries(JSON.parse(readFileSync(path, 'utf8')));
      const contents = groups.map(([name, texts]) => `export const ${name} = ${JSON.stringify(lines(texts))};`).join('');
      return { contents, loader: 'js' };
    });
  },
};

/**
 * Returns a style sheet whose `rem` is the size of letters of the element, where an element sets it. That of the page is 10
 * pixels in many pages. Conditions of `@` rules allow no `var`, and use `em`.
 */
function withUnit(css) {
  return css.replace(/(?<![\w.-])(-?[\d.]+)rem\b/g, 'calc(var(--o-rem,1rem)*$1)');
}

/** Returns texts without their names: lines in the order of the names, as `named` in `src/i18n/named.ts` reads them. */
function lines(texts) {
  const names = Object.keys(texts).sort();
  return names.map((name) => texts[name]).join('\n');
}
