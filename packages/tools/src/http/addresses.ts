// The room of addresses: which ones a tool may connect to.
//
// An IPv4 address is public unless listed here; an IPv6 address is not, unless in 2000::/3, the only range ever
// assigned. An IPv6 address that embeds an IPv4 address is judged by that one.

import { BlockList, isIPv4, isIPv6 } from "node:net";

const kinds: readonly (readonly [kind: string, ranges: readonly string[]])[] = [
  ["loopback", ["127.0.0.0/8", "::1/128"]],
  ["unspecified", ["0.0.0.0/8", "::/128"]],
  ["private", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"]],
  ["link-local", ["169.254.0.0/16", "fe80::/10"]],
  ["shared (CGNAT)", ["100.64.0.0/10"]],
  ["multicast", ["224.0.0.0/4", "ff00::/8"]],
  // 168.63.129.16 is where Azure's machines reach their host.
  ["cloud platform", ["168.63.129.16/32"]],
  ["documentation", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20"]],
  // 2001::/23 is reserved for protocols, Teredo among them; 192.88.99.0/24 was used by 6to4 relays.
  ["reserved", ["192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4", "2001::/23"]],
];

const listOf = (...ranges: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = "", prefix] = range.split("/");
    list.addSubnet(net, Number(prefix), isIPv4(net) ? "ipv4" : "ipv6");
  }
  return list;
};

const lists = kinds.map(([kind, ranges]) => [kind, listOf(...ranges)] as const);
const givenOut = listOf("2000::/3");

/** The kind of a non-public address, in a word; `undefined` for a public one. */
export function notPublic(given: string): string | undefined {
  const address = given.replace(/%.*$/, "");
  if (isIPv4(address)) return kindOf(address, "ipv4");
  if (!isIPv6(address)) return "unknown";
  const within = ipv4Within(wordsOf(address));
  if (within !== undefined) return kindOf(within, "ipv4");
  return kindOf(address, "ipv6") ?? (givenOut.check(address, "ipv6") ? undefined : "reserved");
}

/** The normal form of an address: the IPv4 address it stands for, else its short form. */
export function plainAddress(given: string): string {
  if (!isIPv6(given)) return given;
  return ipv4Within(wordsOf(given)) ?? new URL(`http://[${given}]`).hostname.slice(1, -1);
}

const kindOf = (address: string, family: "ipv4" | "ipv6"): string | undefined =>
  lists.find(([, list]) => list.check(address, family))?.[0];

/** The eight 16-bit words of an IPv6 address. */
function wordsOf(address: string): number[] {
  const plain = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((word) => word.toString(16)).join(":"),
  );
  const [head = "", tail] = plain.split("::");
  const words = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const first = words(head);
  if (tail === undefined) return first;
  const last = words(tail);
  return [...first, ...new Array<number>(8 - first.length - last.length).fill(0), ...last];
}

/** The IPv4 address that an IPv6 address embeds: mapped, compatible, translated, NAT64 or 6to4. */
function ipv4Within(words: readonly number[]): string | undefined {
  const start = (count: number): string =>
    words
      .slice(0, count)
      .map((word) => word.toString(16))
      .join(":");
  const at = (index: number): string => {
    const [high = 0, low = 0] = words.slice(index, index + 2);
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  };
  if (words[0] === 0x2002) return at(1);
  // :: and ::1 look like compatible addresses, but are not.
  if (start(6) === "0:0:0:0:0:0" && (words[6] !== 0 || (words[7] ?? 0) > 1)) return at(6);
  const translated = ["0:0:0:0:0:ffff", "0:0:0:0:ffff:0", "64:ff9b:0:0:0:0"];
  return translated.includes(start(6)) ? at(6) : undefined;
}
