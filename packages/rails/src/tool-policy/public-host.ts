/** Names that lead inside: of this machine, of its network, or of the cloud it runs in. */
const INSIDE = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|home\.arpa)$/;

/** Networks that are not the public internet: first address and length of the prefix. */
const NOT_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Whether a host, as the URL standard writes it, is on the public internet as far as its name tells. */
export function isPublic(host: string): boolean {
  if (host.startsWith("[")) return isPublicV6(host.slice(1, -1));
  if (/^\d+(\.\d+){3}$/.test(host)) return isPublicV4(host.split(".").map(Number));
  return host.includes(".") && !INSIDE.test(host);
}

function isPublicV4(bytes: readonly number[]): boolean {
  const address = numberOf(bytes);
  return !NOT_PUBLIC_V4.some(([network, length]) => {
    const size = 2 ** (32 - length);
    return Math.floor(address / size) === Math.floor(numberOf(network.split(".").map(Number)) / size);
  });
}

function numberOf(bytes: readonly number[]): number {
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}

/** Only global unicast is public, and of that not what stands for an IPv4 address or for documentation. */
function isPublicV6(text: string): boolean {
  const groups = groupsOf(text);
  const [a = 0, b = 0, c = 0] = groups;
  const embedded = embeddedV4(groups);
  if (embedded !== undefined) return isPublicV4(embedded);
  if (a === 0x2001 && (b === 0 || b === 0xdb8)) return false;
  if (a === 0x2002) return isPublicV4(bytesOf(b, c));
  return a >= 0x2000 && a <= 0x3fff;
}

/** The IPv4 address in a mapped, compatible or translated one. */
function embeddedV4(groups: readonly number[]): readonly number[] | undefined {
  const starts = (...prefix: number[]) => prefix.every((group, i) => groups[i] === group);
  const isIpv4 =
    starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0, 0) || starts(0x64, 0xff9b, 0, 0, 0, 0);
  return isIpv4 || starts(0, 0, 0, 0, 0xffff, 0) ? bytesOf(groups[6] ?? 0, groups[7] ?? 0) : undefined;
}

function bytesOf(high: number, low: number): readonly number[] {
  return [high >> 8, high & 255, low >> 8, low & 255];
}

/** The eight groups of an address that the URL parser has written, so it is valid and in hexadecimal. */
function groupsOf(text: string): readonly number[] {
  const [left = "", right] = text.split("::");
  const read = (part: string) =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const head = read(left);
  if (right === undefined) return head;
  const tail = read(right);
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
