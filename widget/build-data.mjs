// What the modules contain of the files that are no code: style sheets, schemas and texts, in a short form.

import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';

/** Style sheets become strings, since a page may allow no style elements. */
export const styles = {
  name: 'styles',
  setup(here) {
    here.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      return { contents: await minified(path), loader: 'text' };
    });
  },
};

/** The style sheets of the widget, whose window sets the colours of the components. */
export const withColours = {
  name: 'colours',
  setup(here) {
    here.onLoad({ filter: /components\W+style\.css$/ }, async ({ path }) => {
      const css = await minified(path);
      return { contents: css.replace(/var\((--omni-color-[\w-]+),light-dark\([^()]*\)\)/g, 'var($1)'), loader: 'text' };
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

async function minified(path) {
  const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true, target: 'es2022' });
  return withUnit(code.trim());
}

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
