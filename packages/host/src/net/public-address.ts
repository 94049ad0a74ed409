import { isIPv4, isIPv6 } from "node:net";

/** Networks that are not the public internet: first address and length of the prefix. */
const NOT_PUBLIC_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8], // this machine
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // shared behind a carrier's NAT; clouds keep services there
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // looks public, but is Azure's own service inside each machine
  ["169.254.0.0", 16], // link-local, metadata of most clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
];

/** Of the only block that is public, what is not: as the first groups and how many bits of them count. */
const NOT_PUBLIC_V6: readonly (readonly [readonly [number, number], number])[] = [
  [[0x2001, 0x0000], 23], // protocols, Teredo among them, which carries an IPv4 address
  [[0x2001, 0x0db8], 32], // documentation
  [[0x2002, 0x0000], 16], // 6to4, which carries an IPv4 address
  [[0x3fff, 0x0000], 20], // documentation
];

/**
 * Whether an address, as a resolver or the URL parser writes it, is on the public internet. IPv6 addresses that stand for an
 * IPv4 one (mapped, compatible, NAT64, 6to4, Teredo) are not: what is public has an ordinary address too.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return isPublicV4(address);
  return isIPv6(address) && isPublicV6(address);
}

function isPublicV4(address: string): boolean {
  const number = numberOf(address);
  return !NOT_PUBLIC_V4.some(([network, length]) => {
    const size = 2 ** (32 - length);
    return Math.floor(number / size) === Math.floor(numberOf(network) / size);
  });
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
}

function isPublicV6(address: string): boolean {
  if (address.includes("%")) return false; // of one network interface
  const [a = 0, b = 0] = groupsOf(address);
  if (a < 0x2000 || a > 0x3fff) return false;
  const first = a * 0x10000 + b;
  return !NOT_PUBLIC_V6.some(([[high, low], length]) => {
    const size = 2 ** (32 - length);
    return Math.floor(first / size) === Math.floor((high * 0x10000 + low) / size);
  });
}

/** The first groups of a valid address; all of them where no zeros are left out before. */
function groupsOf(address: string): readonly number[] {
  const [head = ""] = address.split("::");
  return head === "" ? [] : head.split(":").map((group) => Number.parseInt(group, 16));
}
