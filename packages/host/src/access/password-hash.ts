import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { TracksideError } from "trackside";

/** What one guess costs: memory is 128·N·r bytes, time grows with p. */
export interface HashCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MB and three passes over it, as OWASP advises for where memory is dear. */
export const COST: HashCost = { N: 2 ** 15, r: 8, p: 3 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;
const STORED = /^scrypt:(\d+):(\d+):(\d+):([A-Za-z0-9_-]+):([A-Za-z0-9_-]+)$/;

/** Of the four threads that files and names are also read with, and of memory, hashing gets this much. */
const AT_ONCE = 2;
const MAX_WAITING = 50;

/** Too many are being checked already. */
export class HashingBusy extends TracksideError {
  override readonly name: string = "HashingBusy";

  constructor() {
    super("busy", "Too many passwords are being checked at this moment. Try again in a few seconds.");
  }
}

/** Hashes passwords with scrypt, a few at a time. */
export class PasswordHasher {
  readonly #cost: HashCost;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #nobodys: Promise<string> | undefined;

  constructor(cost: HashCost = COST) {
    this.#cost = cost;
  }

  /** The hash with its salt and parameters, so that old ones can still be checked when the parameters change. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    const key = await this.#derive(password, salt, this.#cost);
    const { N, r, p } = this.#cost;
    return `scrypt:${N}:${r}:${p}:${salt.toString("base64url")}:${key.toString("base64url")}`;
  }

  /** Whether it is the password. Where there is none to compare with, the same work is done for nothing. */
  async matches(password: string, stored: string | null): Promise<boolean> {
    const [, N, r, p, salt, hash] = STORED.exec(stored ?? (await this.#ofNobody())) ?? [];
    if (salt === undefined || hash === undefined) return false;
    const expected = Buffer.from(hash, "base64url");
    const cost = { N: Number(N), r: Number(r), p: Number(p) };
    const key = await this.#derive(password, Buffer.from(salt, "base64url"), cost);
    const same = key.length === expected.length && timingSafeEqual(key, expected);
    return same && stored !== null;
  }

  /** Whether a hash was made with other parameters than one made now. */
  isOutdated(stored: string): boolean {
    const { N, r, p } = this.#cost;
    return !stored.startsWith(`scrypt:${N}:${r}:${p}:`);
  }

  #ofNobody(): Promise<string> {
    this.#nobodys ??= this.hash(randomBytes(SALT_BYTES).toString("hex")).catch((error: unknown) => {
      this.#nobodys = undefined; // it may have been busy
      throw error;
    });
    return this.#nobodys;
  }

  async #derive(password: string, salt: Buffer, { N, r, p }: HashCost): Promise<Buffer> {
    await this.#turn();
    try {
      const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
      // The same password typed on another keyboard may come in another of Unicode's spellings.
      return await new Promise((resolve, reject) =>
        scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, key) =>
          error ? reject(error) : resolve(key),
        ),
      );
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    while (this.#busy >= AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) throw new HashingBusy();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#busy += 1;
  }
}
