// Reads the source files of an application, and finds the values of constants across them.

import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import ts from 'typescript';

const SKIPPED = /^(?:node_modules|dist|build|out|coverage)$/;
const SOURCE = /\.(?:[cm]?[jt]sx?|vue)$/;
const NO_SOURCE = /\.(?:d|test|spec|stories)\.[cm]?[jt]sx?$/;
const ENDINGS = [
  '',
  '.ts',
  '.tsx',
  '.js',
  '.jsx',
  '.mts',
  '.mjs',
  '.vue',
  '/index.ts',
  '/index.tsx',
  '/index.js',
  '/index.jsx',
];

/** Returns the value of `read`. An error, as of a file that was deleted meanwhile, becomes a warning. */
function attempt(path, warnings, read) {
  try {
    return read();
  } catch (error) {
    warnings.push(`${path}: ${error.message}`);
    return undefined;
  }
}

/** Returns the paths of all files below a folder, sorted. Names that begin with a dot are left out. */
function filesBelow(folder, warnings) {
  const entries = attempt(folder, warnings, () => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries
    .filter(({ name }) => !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return [path];
      return SKIPPED.test(entry.name) ? [] : filesBelow(path, warnings);
    });
}

/** The source files of an application. */
export class Sources {
  #root;
  #files = new Map();
  #vue;
  /** Files that could not be read, with the reason. */
  warnings = [];

  constructor(root) {
    this.#root = resolve(root);
    this.paths = filesBelow(this.#root, this.warnings);
    for (const path of this.paths) {
      if (!SOURCE.test(path) || NO_SOURCE.test(path)) continue;
      const text = attempt(path, this.warnings, () => readFileSync(path, 'utf8'));
      if (text !== undefined) this.#read(path, text);
    }
  }

  /** The files: `{ path, source, template? }`. `source` is the syntax tree of TypeScript. */
  get files() {
    return [...this.#files.values()];
  }

  #read(path, text) {
    let template;
    let kind =
      { '.tsx': ts.ScriptKind.TSX, '.jsx': ts.ScriptKind.JSX, '.js': ts.ScriptKind.JSX }[extname(path)] ??
      ts.ScriptKind.TS;
    if (path.endsWith('.vue')) {
      const compiler = this.#compiler(path);
      if (!compiler) return;
      const { descriptor } = compiler.parse(text, { filename: path, sourceMap: false });
      text = [descriptor.script, descriptor.scriptSetup].map((block) => block?.content ?? '').join('\n');
      template = descriptor.template?.ast;
      kind = /x$/.test(descriptor.scriptSetup?.lang ?? descriptor.script?.lang ?? '')
        ? ts.ScriptKind.TSX
        : ts.ScriptKind.TS;
    }
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind);
    this.#files.set(path, { path, source, template, ...declarations(source) });
  }

  /** Returns the compiler of single-file components, from the application or from here. */
  #compiler(path) {
    if (this.#vue === undefined) {
      for (const from of [join(this.#root, 'x.js'), import.meta.url]) {
        try {
          this.#vue ??= createRequire(from)('vue/compiler-sfc');
        } catch {
          // This place does not have Vue.
        }
      }
      this.#vue ??= null;
    }
    if (!this.#vue) this.warnings.push(`${path}: the package vue is not installed`);
    return this.#vue;
  }

  /** Returns the value of an expression and its file. Constants, their members and imports are followed. */
  follow(node, file, depth = 0) {
    const plain = unwrapped(node);
    const unknown = { node: plain, file };
    if (!plain || depth > 10) return unknown;
    if (ts.isPropertyAccessExpression(plain)) return this.#member(plain, file, depth) ?? unknown;
    if (!ts.isIdentifier(plain)) return unknown;
    const own = file.constants.get(plain.text);
    if (own) return this.follow(own, file, depth + 1);
    const imported = file.imports.get(plain.text);
    return (imported && this.#exported(imported.name, imported.from, file, depth)) ?? unknown;
  }

  /** Follows `PATHS.orders`, with a constant or the names of a module. */
  #member({ expression, name }, file, depth) {
    const imported = ts.isIdentifier(expression) && file.imports.get(expression.text);
    if (imported && imported.name === '*') return this.#exported(name.text, imported.from, file, depth);
    const owner = this.follow(expression, file, depth + 1);
    const hasMembers = owner.node && (ts.isObjectLiteralExpression(owner.node) || ts.isEnumDeclaration(owner.node));
    const member = hasMembers && membersOf(owner.node).get(name.text);
    return member ? this.follow(member, owner.file, depth + 1) : undefined;
  }

  /** Follows an export, also one that another file declares. `seen` has the files without it. */
  #exported(name, from, file, depth, seen = new Set()) {
    const target = this.#imported(file.path, from);
    if (!target || seen.has(target)) return undefined;
    const found = target.exported.get(name);
    if (found) return this.follow(found, target, depth + 1);
    const forwarded = target.forwarded.get(name);
    if (forwarded) return depth > 10 ? undefined : this.#exported(forwarded.name, forwarded.from, target, depth + 1);
    seen.add(target);
    for (const other of target.stars) {
      const value = this.#exported(name, other, target, depth, seen);
      if (value) return value;
    }
    return undefined;
  }

  /** Returns the value of a constant, a template or a sum of them, or `undefined`. */
  value(node, file, depth = 0) {
    const found = this.follow(node, file);
    const own = literal(found.node);
    if (own !== undefined || !found.node || depth > 10) return own;
    const parts = partsOf(found.node)?.map((part) =>
      typeof part === 'string' ? part : this.value(part, found.file, depth + 1),
    );
    return parts && !parts.includes(undefined) ? parts.join('') : undefined;
  }

  #imported(path, from) {
    const base = from.startsWith('.')
      ? resolve(dirname(path), from)
      : /^[@~]\//.test(from)
        ? join(this.#root, from.slice(2))
        : undefined;
    if (!base) return undefined;
    const plain = base.replace(/\.jsx?$/, '');
    for (const start of [base, plain]) {
      const found = ENDINGS.map((ending) => start + ending).find((path) => this.#files.has(path));
      if (found) return this.#files.get(found);
    }
    return undefined;
  }
}

/** Returns an expression without parentheses, `as const` and `satisfies`. */
export function unwrapped(node) {
  while (
    node &&
    (ts.isAsExpression(node) ||
      ts.isSatisfiesExpression(node) ||
      ts.isParenthesizedExpression(node) ||
      ts.isNonNullExpression(node))
  ) {
    node = node.expression;
  }
  return node;
}

/** Returns the texts and the expressions of a template or a sum. */
function partsOf(node) {
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.flatMap(({ expression, literal: { text } }) => [expression, text])];
  }
  const isSum = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
  return isSum ? [node.left, node.right] : undefined;
}

/** Returns the value of a literal, or `undefined` for other expressions. */
export function literal(node) {
  const plain = unwrapped(node);
  if (!plain) return undefined;
  if (ts.isStringLiteralLike(plain)) return plain.text;
  if (ts.isNumericLiteral(plain)) return Number(plain.text);
  if (ts.isPrefixUnaryExpression(plain) && plain.operator === ts.SyntaxKind.MinusToken) return -literal(plain.operand);
  if (plain.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (plain.kind === ts.SyntaxKind.FalseKeyword) return false;
  return undefined;
}

/** Returns the members of an object literal or an enumeration by name. */
export const membersOf = (node) =>
  new Map(
    (node.properties ?? node.members).flatMap((member) => {
      if (!member.name || ts.isComputedPropertyName(member.name)) return [];
      if (ts.isEnumMember(member)) return member.initializer ? [[member.name.text, member.initializer]] : [];
      const value = ts.isPropertyAssignment(member)
        ? member.initializer
        : (member.objectAssignmentInitializer ?? member.name);
      return [[member.name.text, value]];
    }),
  );

/** Calls `visit` for each node. If it returns `true`, the children are left out. */
export function walk(node, visit) {
  if (visit(node) !== true) ts.forEachChild(node, (child) => walk(child, visit));
}

function declarations(source) {
  const constants = new Map();
  const imports = new Map();
  const exported = new Map();
  const forwarded = new Map();
  const stars = [];
  for (const statement of source.statements) {
    const isExported = statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        if (!ts.isIdentifier(name) || !initializer) continue;
        constants.set(name.text, initializer);
        if (isExported) exported.set(name.text, initializer);
      }
    } else if (ts.isEnumDeclaration(statement)) {
      constants.set(statement.name.text, statement);
      if (isExported) exported.set(statement.name.text, statement);
    } else if (ts.isExportAssignment(statement)) {
      exported.set('default', statement.expression);
    } else if (ts.isExportDeclaration(statement)) {
      const from = statement.moduleSpecifier?.text;
      if (!statement.exportClause) stars.push(from);
      for (const { name, propertyName } of statement.exportClause?.elements ?? []) {
        if (from === undefined) exported.set(name.text, propertyName ?? name);
        else forwarded.set(name.text, { from, name: (propertyName ?? name).text });
      }
    } else if (ts.isImportDeclaration(statement) && statement.importClause) {
      const from = statement.moduleSpecifier.text;
      const { name, namedBindings } = statement.importClause;
      if (name) imports.set(name.text, { from, name: 'default' });
      if (namedBindings && ts.isNamespaceImport(namedBindings)) imports.set(namedBindings.name.text, { from, name: '*' });
      if (namedBindings && ts.isNamedImports(namedBindings)) {
        for (const element of namedBindings.elements) {
          imports.set(element.name.text, { from, name: (element.propertyName ?? element.name).text });
        }
      }
    }
  }
  return { constants, imports, exported, forwarded, stars };
}

/** Returns `true` if the folder exists. */
export const isFolder = (path) => existsSync(path) && statSync(path).isDirectory();
