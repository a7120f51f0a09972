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
  const state = { sources, found, seen };
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
  // Routes that no router takes directly: elements, and lists that a framework collects.
  for (const file of sources.files) {
    walk(file.source, (node) => {
      // Nested elements belong to the outermost one.
      if (tagOf(node) === 'Route') {
        routesOfElement(node, '', state);
        return true;
      }
      const type = node.type ?? (ts.isVariableDeclaration(node) && node.initializer?.type);
      const isList = ts.isVariableDeclaration(node) && type && TYPES.test(type.getText(file.source));
      const isConfig = ts.isExportAssignment(node) && TYPES.test(node.expression.type?.getText(file.source) ?? '');
      if (isList) add(node.initializer, file);
      if (isConfig) add(node.expression, file);
      return false;
    });
  }
  return merged(found);
}

function routesOfList(node, file, parent, state) {
  const list = state.sources.follow(node, file);
  if (!list.node || state.seen.has(list.node)) return;
  if (ts.isCallExpression(list.node)) return routesOfCall(list.node, list.file, parent, state);
  if (!ts.isArrayLiteralExpression(list.node)) return;
  state.seen.add(list.node);
  for (const item of list.node.elements) {
    if (ts.isSpreadElement(item)) {
      routesOfList(item.expression, list.file, parent, state);
      continue;
    }
    const route = state.sources.follow(item, list.file);
    if (route.node && ts.isObjectLiteralExpression(route.node)) routesOfObject(route.node, route.file, parent, state);
    else if (route.node && ts.isCallExpression(route.node)) routesOfCall(route.node, route.file, parent, state);
  }
}

function routesOfObject(node, file, parent, state) {
  const members = membersOf(node);
  const own = literal(state.sources.follow(members.get('path'), file).node);
  const path = typeof own === 'string' ? joined(parent, own) : parent;
  const hasView = VIEWS.some((name) => members.has(name)) && !isRedirect(members.get('element'));
  // `lazy`, `loader` and the like alone make no page, but an index or a path with a view does.
  if (hasView && (typeof own === 'string' || literal(members.get('index')) === true)) {
    const titles = ['handle', 'meta'].map((name) => state.sources.follow(members.get(name), file).node);
    const title = titles.find((node) => node && ts.isObjectLiteralExpression(node));
    state.found.push({
      path,
      name: literal(members.get('name')) ?? literal(members.get('id')),
      title: literal(members.get('title')) ?? (title && literal(membersOf(title).get('title'))),
    });
  }
  if (members.has('children')) routesOfList(members.get('children'), file, path, state);
}

/** Reads `route()`, `index()`, `layout()` and `prefix()` of React Router, and routes that are made of elements. */
function routesOfCall(node, file, parent, state) {
  const name = node.expression.getText(file.source);
  const [first, second, third] = node.arguments;
  const path = joined(parent, literal(first) ?? '');
  if (/^createRoutesFrom(?:Elements|Children)$/.test(name)) routesOfElement(unwrapped(first), parent, state);
  else if (name === 'index') state.found.push({ path: parent });
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

function routesOfElement(node, parent, state) {
  if (tagOf(node) !== 'Route') {
    ts.forEachChild(node, (child) => routesOfElement(child, parent, state));
    return;
  }
  if (state.seen.has(node)) return;
  state.seen.add(node);
  const opening = ts.isJsxElement(node) ? node.openingElement : node;
  const attributes = new Map();
  for (const attribute of opening.attributes.properties) {
    if (!ts.isJsxAttribute(attribute)) continue;
    const { initializer } = attribute;
    attributes.set(
      attribute.name.getText(),
      initializer && ts.isJsxExpression(initializer) ? initializer.expression : initializer,
    );
  }
  const own = literal(attributes.get('path'));
  const path = typeof own === 'string' ? joined(parent, own) : parent;
  const hasView = VIEWS.some((name) => attributes.has(name)) && !isRedirect(attributes.get('element'));
  if (hasView && (typeof own === 'string' || attributes.has('index'))) {
    const handle = unwrapped(attributes.get('handle'));
    const title = handle && ts.isObjectLiteralExpression(handle) ? literal(membersOf(handle).get('title')) : undefined;
    state.found.push({ path, name: literal(attributes.get('id')), title });
  }
  if (ts.isJsxElement(node)) for (const child of node.children) routesOfElement(child, path, state);
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
