export { type Cipher, cipher, isSealedText } from "./cipher.ts";
export { defaultKeyring, passingKeyring } from "./default-keyring.ts";
export { fileKeyring } from "./file-keyring.ts";
export { type Key, type Keyring, keyring, keyringFromEnv } from "./keyring.ts";
export { redactor } from "./redactor.ts";
export { type SecretFacts, Secrets } from "./secrets.ts";
