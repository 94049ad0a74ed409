const ALLOWED = ["PATH", "HOME", "LANG", "TMPDIR", "TZ", "USER"];

/** Without these, programs on Windows do not even start. */
const ALLOWED_ON_WINDOWS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** What a server sees of our environment, which holds keys of ours: a short list, and what its definition gives it. */
export function serverEnvironment(
  given: Readonly<Record<string, string>>,
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const allowed = new Set(process.platform === "win32" ? [...ALLOWED, ...ALLOWED_ON_WINDOWS] : ALLOWED);
  const env: Record<string, string> = {};
  for (const [key, value] of Object.entries(ours)) {
    // Values that begin with `()` are functions to old shells.
    if (value === undefined || value.startsWith("()")) continue;
    if (allowed.has(key.toUpperCase()) || key.startsWith("LC_")) env[key] = value;
  }
  return { ...env, ...given };
}
