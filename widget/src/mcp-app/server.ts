// The requests of an app to its own server, through the assistant.

import { isObject } from '../object.js';
import { failedResult, resultOf, type CallToolResult } from './result.js';

/** A call that the user has to approve. */
export interface Approval {
  id: string;
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** The question, if the tool has one. */
  message: string | null;
}

/** The origin of an app. */
export interface AppSource {
  /** The path or the URL of the assistant, without a slash at its end. */
  base: string;
  /** The name of the server. */
  server: string;
  /** The address of the document: `ui://…`. */
  resourceUri: string;
}

/** Returns the URL of a document. `undefined` for an address that is none, or that a URL would not keep. */
export function documentUrl({ base, server, resourceUri }: AppSource): string | undefined {
  if (!resourceUri.startsWith('ui://')) return undefined;
  const segments = resourceUri.slice('ui://'.length).split('/');
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return undefined;
  return `${base}/apps/${encodeURIComponent(server)}/${segments.map(encodeURIComponent).join('/')}`;
}

/** Returns the functions that send the requests of an app. */
export function appServer({ base, server }: AppSource, chatId: string | undefined, send: (url: string, init: RequestInit) => Promise<Response>, signal: AbortSignal) {
  async function post(path: string, body: unknown) {
    const response = await send(`${base}/apps/${encodeURIComponent(server)}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    const read: unknown = await response.json().catch(() => undefined);
    const members = isObject(read) ? read : {};
    const error = isObject(members['error']) ? members['error'] : {};
    return { status: response.status, body: members, error };
  }

  return {
    /** Calls a tool. `approve` asks the user, if the call needs an approval. */
    async call(
      name: string,
      args: Record<string, unknown>,
      approve: (approval: Approval) => Promise<boolean>,
    ): Promise<CallToolResult> {
      let answer = await post('call', { name, arguments: args, chatId });
      if (answer.status === 409) {
        const { approval, pending } = answer.error;
        if (!isObject(approval) || !isObject(pending)) return failedResult('The call cannot run.');
        const approved = await approve(approval as unknown as Approval);
        answer = await post('call', { message: decided(pending, approved), chatId });
      }
      if (answer.status !== 200) return failedResult(String(answer.error['message'] ?? 'The call cannot run.'));
      const { output, errorText } = answer.body;
      return typeof errorText === 'string' ? failedResult(errorText) : resultOf(output);
    },

    /** Reads a resource. */
    async read(uri: string): Promise<Record<string, unknown>> {
      const answer = await post('read', { uri });
      if (answer.status !== 200) throw new Error(String(answer.error['message'] ?? 'The resource cannot be read.'));
      return answer.body;
    },
  };
}

/** Returns the message with the decision of the user. */
function decided(pending: Record<string, unknown>, approved: boolean): unknown {
  const parts = Array.isArray(pending['parts']) ? pending['parts'] : [];
  const decide = (part: unknown) =>
    isObject(part) && part['state'] === 'approval-requested' && isObject(part['approval'])
      ? { ...part, state: 'approval-responded', approval: { ...part['approval'], approved } }
      : part;
  return { ...pending, parts: parts.map(decide) };
}
