// Routes that an application declares in its sources, for React Router and Vue Router.

import ts from 'typescript';
import { literal, membersOf, unwrapped, walk } from './sources.mjs';

const FACTORIES = /^(?:create(?:Browser|Hash|Memory)Router|createStaticHandler|useRoutes)$/;
const TYPES = /\b(?:RouteObject|RouteRecordRaw|RouteConfig)\b/;
const VIEWS = ['element', 'Component', 'component', 'components', 'lazy'];

/** Returns the routes: `{ path, name?, title? }`. */
export function routesOf(sources) {
  const found = [];
  const seen = new Set();
  const state = { sources, found, seen, active: new Set() };
  const add = (node, file) => routesOfList(node, file, '', state);
  for (const file of sources.files) {
    walk(file.source, (node) => {
      if (!ts.isCallExpression(node)) return;
      const name = node.expression.getText(file.source);
      if (FACTORIES.test(name)) add(node.arguments[0], file);
      if (name !== 'createRouter') return;
      const options = sources.follow(node.arguments[0], file);
      if (options.node && ts.isObjectLiteralExpression(options.node))
        add(membersOf(options.node).get('routes'), options.file);
    });
  }
  const below = groupsBelow(sources);
  // Routes that no router takes directly: elements, and lists that a framework collects.
  for (const file of sources.files) {
    walk(file.source, (node) => {
      // Nested elements belong to the outermost one.
      if (tagOf(node) === 'Route') {
        routesOfElement(node, file, '', state);
        return true;
      }
      if (below.has(node)) {
        const name = componentOf(node) ?? 'a component';
        sources.warnings.push(`${file.path}: the routes of ${name} are below a route that is not known, and are left out`);
        return true;
      }
      const type = node.type ?? (ts.isVariableDeclaration(node) && node.initializer?.type);
      const isList = ts.isVariableDeclaration(node) && node.initializer && type && TYPES.test(type.getText(file.source));
      const isConfig = ts.isExportAssignment(node) && TYPES.test(node.expression.type?.getText(file.source) ?? '');
      // One record alone is most likely a child in another list.
      if (isList && !ts.isObjectLiteralExpression(unwrapped(node.initializer))) add(node.initializer, file);
      if (isConfig) add(node.expression, file);
      return false;
    });
  }
  return merged(found);
}

/**
 * Returns the elements `<Routes>` that a route such as `files/*` shows, or can show if its component has no routes itself.
 * Their paths are relative to that route.
 */
function groupsBelow(sources) {
  const groups = [];
  const splats = [];
  for (const file of sources.files) {
    walk(file.source, (node) => {
      if (tagOf(node) === 'Routes') groups.push({ node, file, component: componentOf(node) });
      const isObject = ts.isObjectLiteralExpression(node);
      const members = isObject ? membersOf(node) : tagOf(node) === 'Route' ? attributesOf(node) : new Map();
      const path = sources.value(members.get('path'), file);
      if (/[^/*].*\/\*$/.test(path ?? '')) splats.push({ node, names: viewsOf(members) });
    });
  }
  const isUnclear = splats.some(({ names }) => !groups.some(({ component }) => names.has(component)));
  const isBelow = ({ node, file, component }) =>
    splats.some(({ names }) => names.has(component)) ||
    (isUnclear && !splats.some((splat) => isWithin(splat.node, node)) && isRelative(node, file, sources));
  return new Set(groups.filter(isBelow).map(({ node }) => node));
}

/** Returns the names of the components that a route shows. */
function viewsOf(members) {
  const names = new Set();
  for (const view of VIEWS.map((name) => members.get(name)).filter(Boolean)) {
    if (ts.isIdentifier(view)) names.add(view.text);
    walk(view, (node) => void (tagOf(node) && names.add(tagOf(node))));
  }
  return names;
}

function isWithin(node, group) {
  while (node && node !== group) node = node.parent;
  return node === group;
}

/** Returns `true` if one of the outermost paths does not begin with a slash. */
function isRelative(group, file, sources) {
  let isFound = false;
  walk(group, (node) => {
    const path = tagOf(node) === 'Route' && attributesOf(node).get('path');
    if (path) isFound ||= !String(sources.value(path, file)).startsWith('/');
    return Boolean(path);
  });
  return isFound;
}

/** Returns the name of the function or the constant that a node is in. */
function componentOf(node) {
  let at = node.parent;
  while (at && !ts.isFunctionDeclaration(at) && !ts.isVariableDeclaration(at)) at = at.parent;
  return at?.name?.getText();
}

/** Returns what an expression can be: both sides of `a ? b : c`, and `b` of `a && b`. */
function branchesOf(node) {
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse];
  const isAnd = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
  return isAnd ? [node.right] : undefined;
}

/** Reads a list of routes, one route, or a call that returns them. */
function routesOfList(node, file, parent, state) {
  const { node: found, file: from } = state.sources.follow(node, file);
  if (!found || state.seen.has(found) || state.active.has(found)) return;
  state.active.add(found);
  routesOfFound(found, from, parent, state);
  state.active.delete(found);
}

function routesOfFound(found, from, parent, state) {
  if (ts.isCallExpression(found)) return routesOfCall(found, from, parent, state);
  if (ts.isObjectLiteralExpression(found)) return routesOfObject(found, from, parent, state);
  const items = ts.isArrayLiteralExpression(found) ? found.elements : branchesOf(found);
  if (!items) return;
  state.seen.add(found);
  for (const item of items) routesOfList(ts.isSpreadElement(item) ? item.expression : item, from, parent, state);
}

/** Returns the path below `parent`. A path that is unknown is a warning, and `undefined`. */
function pathBelow(parent, node, file, { sources }) {
  if (!node) return parent;
  const own = sources.value(node, file);
  if (typeof own === 'string') return joined(parent, own);
  sources.warnings.push(`${file.path}: the path ${node.getText()} is no constant, and the route is left out`);
  return undefined;
}

function routesOfObject(node, file, parent, state) {
  const members = membersOf(node);
  const path = pathBelow(parent, members.get('path'), file, state);
  if (path === undefined) return;
  const isMoved = members.has('redirect') || isRedirect(members.get('element'));
  // `lazy`, `loader` and the like alone make no page, but an index or a path with a view does.
  const isPage = members.has('path') || literal(members.get('index')) === true;
  if (isPage && !isMoved && VIEWS.some((name) => members.has(name))) {
    const titles = ['handle', 'meta'].map((name) => state.sources.follow(members.get(name), file).node);
    const meta = titles.find((node) => node && ts.isObjectLiteralExpression(node));
    const title = literal(members.get('title')) ?? (meta && literal(membersOf(meta).get('title')));
    state.found.push({ path, name: literal(members.get('name')) ?? literal(members.get('id')), title });
    const { node: alias } = state.sources.follow(members.get('alias'), file);
    for (const one of alias && ts.isArrayLiteralExpression(alias) ? alias.elements : [alias]) {
      const other = one && pathBelow(parent, one, file, state);
      if (other) state.found.push({ path: other, title });
    }
  }
  if (members.has('children')) routesOfList(members.get('children'), file, path, state);
}

/** Reads `route()`, `index()`, `layout()` and `prefix()` of React Router, and routes that are made of elements. */
function routesOfCall(node, file, parent, state) {
  const name = node.expression.getText(file.source);
  const [first, second, third] = node.arguments;
  const path = /^(?:route|prefix)$/.test(name) ? pathBelow(parent, first, file, state) : parent;
  if (path === undefined) return;
  if (/^createRoutesFrom(?:Elements|Children)$/.test(name)) routesOfElement(unwrapped(first), file, parent, state);
  else if (/\.filter$/.test(name)) routesOfList(node.expression.expression, file, parent, state);
  else if (name === 'index') state.found.push({ path });
  else if (name === 'layout') routesOfList(node.arguments.at(-1), file, parent, state);
  else if (name === 'prefix') routesOfList(second, file, path, state);
  else if (name === 'route') {
    state.found.push({ path });
    const children = [third, node.arguments[3]].find((node) => node && ts.isArrayLiteralExpression(node));
    if (children) routesOfList(children, file, path, state);
  }
}

function tagOf(node) {
  const opening = ts.isJsxElement(node) ? node.openingElement : node;
  return ts.isJsxElement(node) || ts.isJsxSelfClosingElement(node) ? opening.tagName.getText() : undefined;
}

/** Returns the expressions of the attributes by name. */
function attributesOf(node) {
  const opening = ts.isJsxElement(node) ? node.openingElement : node;
  const attributes = new Map();
  for (const attribute of opening.attributes.properties) {
    if (!ts.isJsxAttribute(attribute)) continue;
    const { initializer } = attribute;
    const isExpression = initializer && ts.isJsxExpression(initializer);
    attributes.set(attribute.name.getText(), isExpression ? initializer.expression : initializer);
  }
  return attributes;
}

function routesOfElement(node, file, parent, state) {
  if (tagOf(node) !== 'Route') {
    ts.forEachChild(node, (child) => routesOfElement(child, file, parent, state));
    return;
  }
  if (state.seen.has(node)) return;
  state.seen.add(node);
  const attributes = attributesOf(node);
  const path = pathBelow(parent, attributes.get('path'), file, state);
  if (path === undefined) return;
  const hasView = VIEWS.some((name) => attributes.has(name)) && !isRedirect(attributes.get('element'));
  if (hasView && (attributes.has('path') || attributes.has('index'))) {
    const handle = unwrapped(attributes.get('handle'));
    const title = handle && ts.isObjectLiteralExpression(handle) ? literal(membersOf(handle).get('title')) : undefined;
    state.found.push({ path, name: literal(attributes.get('id')), title });
  }
  if (ts.isJsxElement(node)) for (const child of node.children) routesOfElement(child, file, path, state);
}

const isRedirect = (node) => tagOf(unwrapped(node) ?? ts.factory.createNull()) === 'Navigate';

/** Joins paths. The expression of a parameter, as in `:id(\\d+)`, is left out. */
export function joined(parent, own) {
  const path = own.startsWith('/') ? own : `${parent}/${own}`;
  return `/${path
    .replace(/\((?:[^()]|\([^()]*\))*\)/g, '')
    .split('/')
    .filter(Boolean)
    .join('/')}`;
}

/** Sorts the routes. Routes of one path become one, and those that catch every path are left out. */
export function merged(routes) {
  const paths = new Map();
  for (const { path: own, ...rest } of routes) {
    const path = own || '/';
    if (/^\/(?::\w+)?[*]$/.test(path)) continue;
    const known = paths.get(path) ?? {};
    for (const [name, value] of Object.entries(rest)) if (typeof value === 'string' && value) known[name] = value;
    paths.set(path, known);
  }
  return [...paths]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, rest]) => {
      const params = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
      return { path, ...rest, ...(params.length > 0 && { params }) };
    });
}
