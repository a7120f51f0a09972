// The fields and parameters whose values never leave the page.

/** The server has the longer list, and removes what is left from the context. */
const SECRET =
  /passw|pass ?(?:phrase|code)|kennwort|secret|token|(?:api|app|access|private|master|signing) ?key|credential|(?:credit|debit) ?card|card ?(?:num|code|exp|cv)|(?:security|one ?time|sms|mfa|auth|backup|recovery) ?code|(?:seed|recovery) ?phrase|session ?id|\b(?:auth|authori[sz]ation|bearer|cookies?|csc|csrf|cv[cnv]|jwt|otp|pass|pins?|pincode|pwd|sid|ssn|tan|totp|xsrf)\b|^cc /i;
const SECRET_PARAMETER = /^(?:code|key|sig|signature|ticket)$/i;
const AUTOCOMPLETE = /(?:^|\s)(?:cc-|one-time-code|current-password|new-password)/i;
const TYPES = /^(?:password|hidden|file)$/;

/** Returns `true` if a field with this name, identifier or label contains a secret. */
export const isSecretName = (name: string): boolean =>
  SECRET.test(name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' '));

/** Returns `true` if the field declares its value as secret, or its names do. */
export function isSecretField(field: HTMLElement, label: string): boolean {
  const { type } = field as HTMLInputElement;
  if (TYPES.test(type) || AUTOCOMPLETE.test(field.getAttribute('autocomplete') ?? '')) return true;
  // A button that shows the password makes it a field for text, and style sheets can mask a field.
  const masking = getComputedStyle(field).getPropertyValue('-webkit-text-security');
  if (masking && masking !== 'none') return true;
  const names = [field.getAttribute('name'), field.id];
  // The label of a check box is a sentence, and its state reveals nothing.
  if (type !== 'checkbox' && type !== 'radio') names.push(label, field.getAttribute('placeholder'));
  return names.some((name) => name && isSecretName(name));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

const withoutSecrets = (parameters: string): string =>
  parameters.replace(/([?&#;])([^=&#?;]*)=[^&#;]+/g, (all, before: string, name: string) => {
    const plain = decoded(name);
    return isSecretName(plain) || SECRET_PARAMETER.test(plain) ? `${before}${name}=[redacted]` : all;
  });

/** Returns the path, the query and the fragment of an address without secrets. */
export const pathOf = ({ pathname, search, hash }: URL | Location): string =>
  pathname + withoutSecrets(search) + withoutSecrets(hash);

/** Returns the path and the title of the open page. */
export const here = (): { path: string; title: string } => ({
  path: pathOf(location),
  title: document.title.slice(0, 200),
});
