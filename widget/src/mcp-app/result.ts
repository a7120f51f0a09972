// Results of calls in the form of MCP, which apps read.

import { isObject } from '../object.js';

/** The part of a result that this host reads. */
export interface CallToolResult {
  content: { type: string; text?: string; [member: string]: unknown }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [member: string]: unknown;
}

/**
 * Returns the result of a call from the output in a tool part, in the data of `data-mcp-app`, or in the answer to a call of
 * an app. An output that the model read names the server whose data it is.
 */
export function resultOf(output: unknown): CallToolResult {
  if (isObject(output)) {
    if (Array.isArray(output['content'])) return output as CallToolResult;
    if (typeof output['untrusted_data_of'] === 'string') {
      if (typeof output['text'] === 'string') return textResult(output['text']);
      if (isObject(output['structured'])) return structuredResult(output['structured']);
    }
    return structuredResult(output);
  }
  return textResult(typeof output === 'string' ? output : JSON.stringify(output ?? null));
}

/** Returns the result of a call that failed. */
export function failedResult(text: string): CallToolResult {
  return { ...textResult(text), isError: true };
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function structuredResult(structured: Record<string, unknown>): CallToolResult {
  return { ...textResult(JSON.stringify(structured)), structuredContent: structured };
}
