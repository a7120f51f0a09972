// The fields and parameters whose values never leave the page.

import { listen } from './listen.js';
import { textOf } from './names.js';

/** The names that the server counts as secret too (`omniassist-core/src/secret/name.rs`), and words of labels. */
const SECRET = new RegExp(
  [
    /passw(?:or[dt]|d)|pass ?code|contrase[nñ]a|kennwort|mot ?de ?passe|wachtwoord|пароль|密[码碼]|パスワード|비밀번호/,
    /secret(?!ar)|token(?!i[sz])|(?:ap[ip]|ac(?:cess|count)|private|master|signing|\w+ption|functions|session|shared) ?key|credential|mnemonic/,
    /(?:credit|debit) ?card|card ?(?:num|no\b|code|exp|cv)|kartennummer|\bcc ?(?:num|no\b|exp|csc|cv|name|type|\w+ ?name)|^cc /,
    /(?:security|one ?time|sms|mfa|2 ?fa|auth(?:enticator)?|verification|backup|recovery) ?code|^code \d$|\bdigit \d/,
    /(?:pass|seed|recovery) ?phrase|session ?id|phpsessid|social ?security|security ?answer|connection ?string/,
    /\b(?:auth|authori[sz]ation|bearer|cookies?|csc|csrf|cv[cnv]|iban|jwt|otp|pan|parola|passkey|(?:db|user)pass|pass(?= (?:\d|again|confirm|repeat)|$)|pins?|pincode|psw|pwd?)\b/,
    /\b(?:senhas?|sess ?id|sid|ssn|tan|totp|xsrf)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'im',
);
const WORD_STARTS =
  /[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;
const SECRET_PARAMETER = /^(?:code|key|sig|(?:.+-)?signature|ticket|assertion|saml(?:request|response)|hmac)$/i;
const AUTOCOMPLETE = /(?:^|\s)(?:cc-|one-time-code|current-password|new-password)/i;
const TYPES = /^(?:hidden|file)$/;

/** Returns `true` if a field with this name, identifier or label contains a secret. */
export function isSecretName(name: string): boolean {
  const words = name.normalize('NFKC').replace(WORD_STARTS, ' ').trim();
  return SECRET.test(`${words}\n${words.replaceAll(' ', '')}`);
}

/** The fields that had dots instead of characters once. A button that shows the password makes it a field for text. */
const masked = new WeakSet<Element>();

/** Remembers the fields for passwords, before a click shows one. Returns a function that ends that. */
export function watchPasswords(): () => void {
  const look = (): void => document.querySelectorAll('[type=password]').forEach((field) => masked.add(field));
  look();
  return listen(['focusin', 'input', 'click'], look);
}

/** Returns `true` if the field declares its value as secret, or one of its names and descriptions does. */
export function isSecretField(field: HTMLElement): boolean {
  const { type } = field as HTMLInputElement;
  // Style sheets can mask a field too.
  const masking = getComputedStyle(field).getPropertyValue('-webkit-text-security');
  if (type === 'password' || (masking && masking !== 'none')) masked.add(field);
  if (masked.has(field) || TYPES.test(type) || AUTOCOMPLETE.test(field.getAttribute('autocomplete') ?? '')) return true;
  const names = [field.getAttribute('name') ?? '', field.id];
  // The label of a check box is a sentence, and its state reveals nothing.
  return [...names, ...(/^(?:checkbox|radio)$/.test(type) ? [] : textsAbout(field))].some(isSecretName);
}

/** Returns all texts that say what a field is for, of which its name is only the first. */
function textsAbout(field: HTMLElement): string[] {
  const attribute = (name: string): string => field.getAttribute(name) ?? '';
  // Only controls have `labels`. A search in the document for each of them would be slow.
  const labels =
    (field as HTMLInputElement).labels ?? document.querySelectorAll(`label[for="${CSS.escape(field.id)}"]`);
  const referred = ['aria-labelledby', 'aria-describedby'].map((name) => attribute(name).split(/\s+/));
  const elements = [
    ...referred.map((ids) => ids.map((id) => document.getElementById(id))),
    [field.closest('fieldset')?.querySelector(':scope > legend')],
    ...[...labels, field.closest('label')].map((label) => [label]),
  ];
  return [
    ...['aria-label', 'placeholder', 'title'].map(attribute),
    ...elements.map((parts) => parts.map((part) => (part ? textOf(part) : '')).join(' ')),
  ];
}

/** Decodes a text, also one that is encoded within another address. */
function decoded(text: string): string {
  let plain = text.replaceAll('+', ' ');
  try {
    for (let depth = 0; depth < 4; depth += 1) plain = decodeURIComponent(plain);
  } catch {
    // A percent sign that encodes nothing ends it.
  }
  return plain;
}

const withoutSecrets = (address: string, depth = 4): string =>
  address.replace(/([?&#;])([^=&#?;]*)=([^&#;]+)/g, (all, before: string, name: string, value: string) => {
    const plain = decoded(name);
    const isSecret = isSecretName(plain) || SECRET_PARAMETER.test(plain) || hasSecret(decoded(value), depth - 1);
    return isSecret ? `${before}${name}=[redacted]` : all;
  });

/** Returns `true` if a parameter is an address or a query with a secret. */
const hasSecret = (value: string, depth: number): boolean =>
  /\/\/[^/?#]*:[^/?#]*@/.test(value) || depth < 0 || withoutSecrets(`?${value}`, depth) !== `?${value}`;

/** Returns the path, the query and the fragment of an address without secrets. */
export const pathOf = ({ pathname, search, hash }: URL | Location): string => withoutSecrets(pathname + search + hash);

/** Returns the path and the title of the open page. */
export const here = (): { path: string; title: string } => ({
  path: pathOf(location),
  title: document.title.slice(0, 200),
});
