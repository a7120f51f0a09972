import type { Component } from './component.js';

/** The components by their names. */
export const components = new Map<string, Component>();
const listeners = new Set<() => void>();

/** Calls `listener` when a component becomes available. */
export function onComponent(listener: () => void): void {
  listeners.add(listener);
}

/** Makes a component available under a name, also to parts that are mounted already. A later one replaces an earlier one. */
export function registerComponent(name: string, component: Component): void {
  components.set(name, component);
  for (const listener of listeners) listener();
}
