// The fields and parameters whose values never leave the page.

/** The names that the server counts as secret too (`omniassist-core/src/secret/name.rs`), and words of labels. */
const SECRET = new RegExp(
  [
    /passw(?:or[dt]|d)|pass ?(?:phrase|code)|contrase[nñ]a|kennwort|mot ?de ?passe|wachtwoord|пароль|密[码碼]|パスワード|비밀번호/,
    /secret(?!ar)|token(?!i[sz])|(?:api|app|access|private|master|signing|encryption|session) ?key|credential|mnemonic/,
    /(?:credit|debit) ?card|card ?(?:num|no\b|code|exp|cv)|kartennummer|\bcc ?(?:num|no\b|exp|csc|cv|name|type|\w+ ?name)|^cc /,
    /(?:security|one ?time|sms|mfa|2 ?fa|auth|authenticator|verification|backup|recovery) ?code|^code \d$|\bdigit \d/,
    /(?:seed|recovery) ?phrase|session ?id|phpsessid|social ?security/,
    /\b(?:auth|authori[sz]ation|bearer|cookies?|csc|csrf|cv[cnv]|iban|jwt|otp|pan|parola|pass|pins?|pincode|psw|pwd)\b/,
    /\b(?:senhas?|sid|ssn|tan|totp|xsrf)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'im',
);
const WORD_STARTS =
  /[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;
const SECRET_PARAMETER = /^(?:code|key|sig|signature|ticket)$/i;
const AUTOCOMPLETE = /(?:^|\s)(?:cc-|one-time-code|current-password|new-password)/i;
const TYPES = /^(?:password|hidden|file)$/;

/** Returns `true` if a field with this name, identifier or label contains a secret. */
export function isSecretName(name: string): boolean {
  const words = name.normalize('NFKC').replace(WORD_STARTS, ' ').trim();
  return SECRET.test(`${words}\n${words.replaceAll(' ', '')}`);
}

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
