/** A page of the application. */
export interface ManifestRoute {
  /** The path, with parameters such as `/orders/:id`. */
  path: string;
  name?: string;
  title?: string;
  params?: string[];
}

/** The content of `routes.json`. */
export interface Manifest {
  version: number;
  routes: ManifestRoute[];
  /** The forms with `data-assistant`. `schema` is the JSON Schema of the values. */
  forms: { form: string; schema: Record<string, unknown> }[];
  /** The constants that are objects of Zod by their names, as JSON Schemas. */
  schemas: Record<string, Record<string, unknown>>;
}

export interface OmniAssistOptions {
  /** The folder of the sources. Default: `src`. */
  src?: string;
  /** The name of the manifest in the build. Default: `routes.json`. */
  file?: string;
  /** Adds the routes of file names to those that the sources declare. Default: `false`, only if they declare none. */
  files?: boolean;
  /** The path of the widget at the server, which is not bundled. Default: `/assistant/widget.js`. */
  widget?: string;
}

/** Returns the plugin for Vite. */
export default function omniassist(options?: OmniAssistOptions): { name: string };
