// Recognition of secrets by the names and kinds of fields.

/** The replacement of a secret. */
export const REDACTED = '[redacted]';

/** Long names at any position, because they are often joined with others. */
const STEMS =
  /accesskey|accountkey|apikey|appkey|authcode|backupcode|card(?:num|code|exp|cv)|connectionstring|contrase(?:na|ña)|credential|(?:credit|debit)card|encryptionkey|functionskey|kennwort|masterkey|mfacode|motdepasse|onetimecode|passwor[dt]|passphrase|passcode|passwd|privatekey|recovery(?:code|phrase)|secretkey|security(?:answer|code)|session(?:id|key)|seedphrase|sharedkey|signingkey|smscode|socialsecurity|subscriptionkey|verificationcode|wachtwoord|2facode|пароль|密[码碼]|パスワード|비밀번호|(?:token|secret)s?$|^cc(?:num|no|exp|csc|cvc|cvv|name|type|(?:given|family|additional)name)/;

/** Short names, which must be whole words, and cards. */
const WORDS =
  /(?:^| )(?:(?:auth|(?:db|user)pass|authori[sz]ation|bearer|cvv|cvc|csc|cvn|cookies?|csrf|jwt|mnemonic|otp|pins?|pincode|pwd?|psw|passkey|(?:php)?sessid|parola|ssn|sid|secrets?|senha|tokens?|totp|tan|xsrf)(?= |$)|pass(?=$| +(?:repeat|again|confirm\S*|\p{N}+)(?: |$)))|^cc /u;

/** Names that are secret only in a query string, where they contain credentials. */
const QUERY_NAMES = /^(?:code|key|sig|signature|ticket)$/;

const KINDS =
  /^(?:(?:input|new|current)?password|password(?:field|input)|secret|pin|otp|onetimecode|creditcard)$/;

const AUTOCOMPLETE = /(?:^|[ \t\n\f\r])(?:cc-|(?:(?:current|new)-password|one-time-code)(?:[ \t\n\f\r]|$))/i;

const BETWEEN_WORDS =
  /[^\p{Alphabetic}\p{N}]+|(?<=\p{N})(?!\p{N})|(?<!\p{N})(?=\p{N})|(?<!\p{Uppercase})(?=\p{Uppercase})|(?=\p{Uppercase}\p{Lowercase})/gu;

/** Returns the text in lower case, character by character: a sigma at the end is like any other. */
const lower = (text: string): string => text.replaceAll('Σ', 'σ').toLowerCase();

/** Normalises a name to lower case, letters and digits. */
export const squash = (name: string): string => lower(name.replace(/[^\p{Alphabetic}\p{N}]+/gu, ''));

/**
 * Returns `true` if the value of this name is secret. `isQuery` is `true` for parameters of a URL. `listed` contains
 * normalised names: whole ones, or the last part of a path such as `user[email]`.
 */
export function isSecretName(name: string, listed: ReadonlySet<string>, isQuery: boolean): boolean {
  const squashed = squash(name);
  const words = /^[a-z]*$/.test(name) ? name : lower(name.replace(BETWEEN_WORDS, ' ').trim());
  return (
    STEMS.test(squashed) ||
    WORDS.test(words) ||
    (isQuery && (QUERY_NAMES.test(squashed) || / signature$/.test(words))) ||
    listed.has(squashed) ||
    listed.has(squash(name.split(/[.[\]/:]/).filter(Boolean).pop() ?? ''))
  );
}

/** Returns `true` if the kind of a field (`type`, `format`) denotes a secret. */
export const isSecretKind = (kind: string): boolean => KINDS.test(squash(kind));

/** Returns `true` if an `autocomplete` attribute denotes a secret. It is a list of tokens (HTML, "Autofill"). */
export const isSecretAutocomplete = (tokens: string): boolean => AUTOCOMPLETE.test(tokens);
