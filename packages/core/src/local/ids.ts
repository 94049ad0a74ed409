const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const RANDOM_CHARS = 12;

let lastMs = 0;
let counter = 0;

/** Opaque, sortable by time of creation, unique: `run_01k3…`. */
export function newId(prefix: string): string {
  const now = Date.now();
  counter = now === lastMs ? counter + 1 : 0;
  lastMs = now;
  return `${prefix}_${encode(now, 9)}${encode(counter, 3)}${noise()}`;
}

function encode(value: number, length: number): string {
  let text = "";
  let left = value;
  for (let i = 0; i < length; i++) {
    text = ALPHABET[left % 32] + text;
    left = Math.floor(left / 32);
  }
  return text;
}

let pool = new Uint8Array(0);
let used = 0;

/** Random characters, drawn from the system in large pieces: asking it for each id costs more than a whole step. */
function noise(): string {
  if (used + RANDOM_CHARS > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(RANDOM_CHARS * 256));
    used = 0;
  }
  let text = "";
  for (let i = 0; i < RANDOM_CHARS; i++) text += ALPHABET[(pool[used++] ?? 0) & 31];
  return text;
}
