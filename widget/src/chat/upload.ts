import type { Attachment, FilePart, Part } from './types.js';

/** Bytes of one piece of a file that becomes text. A multiple of 3, so that the pieces of base64 join. */
const PIECE = 0x6000;

/** Stores a file in the server. */
export type Store = (file: File) => Promise<Response>;

/** Uploads the files of a message. Without a server that stores files, `data:` URLs have their content. */
export async function uploaded(files: Attachment[], store: Store | undefined, signal: AbortSignal): Promise<Part[]> {
  const parts: Part[] = [];
  for (const file of files) {
    const isPart = !(file instanceof Blob);
    parts.push(isPart ? file : ((store && (await stored(file, store))) ?? (await inline(file))));
    // The user may have stopped the upload, and opened another chat.
    signal.throwIfAborted();
  }
  return parts;
}

/** Returns `undefined` if the server stores no files. */
async function stored(file: File, store: Store): Promise<FilePart | undefined> {
  try {
    const { files } = (await (await store(file)).json()) as { files: FilePart[] };
    return files[0];
  } catch (error) {
    if (![404, 405].includes((error as { status?: number }).status ?? 0)) throw error;
    return undefined;
  }
}

async function inline(file: File): Promise<FilePart> {
  const mediaType = file.type || 'application/octet-stream';
  const bytes = new Uint8Array(await file.arrayBuffer());
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + PIECE))));
  }
  return { type: 'file', mediaType, filename: file.name, url: `data:${mediaType};base64,${pieces.join('')}` };
}
