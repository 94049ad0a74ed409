/** One press: a key with what is held down. Letters are lower case; signs like "?" carry no shift of their own. */
export interface Chord {
  key: string;
  shift: boolean;
  /** Ctrl, or Cmd on a Mac. */
  mod: boolean;
  alt: boolean;
}

/** What of a keyboard event counts; a test can write one down. */
export interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

const NAMES: Record<string, string> = {
  enter: "Enter",
  escape: "Esc",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  space: "Space",
  home: "Home",
  end: "End",
  backspace: "Backspace",
  delete: "Del",
  tab: "Tab",
};

/** "g o" → two presses; "mod+enter", "shift+a" → one with something held down. */
export function parseKeys(keys: string): Chord[] {
  const chords = keys.trim().split(/\s+/).map(parseChord);
  if (keys.trim() === "")
    throw new Error(`keys "${keys}" name no key: write "a", "shift+a", "mod+enter" or "g o"`);
  return chords;
}

function parseChord(text: string): Chord {
  const parts = text.toLowerCase().split("+");
  // "+" itself splits into two empty parts.
  const key = parts.at(-1) === "" ? "+" : (parts.at(-1) ?? "");
  const held = new Set(parts.slice(0, -1).filter(Boolean));
  for (const name of held) {
    if (!["shift", "mod", "alt"].includes(name))
      throw new Error(`keys "${text}" hold down "${name}"; allowed are shift, mod (Ctrl or Cmd) and alt`);
  }
  return { key, shift: held.has("shift"), mod: held.has("mod"), alt: held.has("alt") };
}

export function matches(chord: Chord, press: Press): boolean {
  const key = press.key === " " ? "space" : press.key.toLowerCase();
  if (key !== chord.key) return false;
  if ((press.ctrlKey || press.metaKey) !== chord.mod) return false;
  // Layouts differ in what has to be held for "?" or "/": whoever got the sign pressed the key.
  const sign = key.length === 1 && !/[\p{L}\p{N}]/u.test(key);
  if (sign && !chord.mod) return true;
  return press.shiftKey === chord.shift && press.altKey === chord.alt;
}

/** How a keyboard labels them: one name per press. */
export function keyNames(keys: string): string[] {
  return parseKeys(keys).map(({ key, shift, mod, alt }) =>
    [mod && "Ctrl", alt && "Alt", shift && "Shift", NAMES[key] ?? key.toUpperCase()]
      .filter(Boolean)
      .join(" "),
  );
}
