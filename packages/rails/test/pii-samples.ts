import { type Random, seeded } from "./secret-samples.ts";

const PHONES =
  `##########|###-###-####|###-#######|### ### ####|(###) ###-####|(###)###-####|###.###.####|###-###-####x###|
(###)###-####x####|###.###.####x###|+1-###-###-####|001-###-###-####|+1-###-###-####x###|1 ### ### ####|07700 ### ###|07700 ######|
(07700) ### ###|+447700 ### ###|+447700######|020 7### ####|+91##########|0##########|+41 2# ### ## ##|+41 (0)7# ### ## ##|
+46 (0)8 ### ### ##|+46 (0)### ### ##|+49 30 ########|+33 6 ## ## ## ##|0# ## ## ## ##|##.##.##.##.##|### ####|### ### ###|## ######|
#### ## ## ##|##-##-##-##|### ## ###|## ### ###|#### ### ## ##|### ### ## ##|###-###-###|## ### ## ##|##-########|(###) ####-###|
## ### ### ####|(##) ####-####|### #### ####|## ## ##|#### ####|(##) ###-###|#### #######|##### ## ## ##`
    .split("|")
    .map((form) => form.trim());

const CALLS = [
  "Can someone call me on {}? I have questions.",
  "Phone: {}",
  "Mobile: {}\nFax: none",
  "They're not answering at {}",
  "I would like to stop receiving messages to {}",
  "Smith Ltd.\n12 Main Street\n{} office\n",
  "You can reach her at {} until noon.",
  "Please have the manager call me at {} I'd like to join.",
];

const CARDS: readonly (readonly [prefix: string, length: number])[] = [
  ["34", 15],
  ["37", 15],
  ["300", 14],
  ["36", 14],
  ["6011", 16],
  ["65", 16],
  ["35", 16],
  ["2131", 15],
  ["1800", 15],
  ["5018", 12],
  ["6304", 12],
  ["0604", 12],
  ["51", 16],
  ["2720", 16],
  ["4", 16],
  ["4", 13],
  ["4", 19],
  ["62", 16],
];

const PEOPLE = ["anna.berg", "Joe_Doe99", "o'neil", "x+news", "müller", "i.ivanov-petrov", "7up"];
const DOMAINS = [
  "example.com",
  "mail.example.co.uk",
  "a-b.io",
  "ex4mple.info",
  "bücher.example",
  "sub.domain.museum",
];

/** Sentences with one value in each that has to go. */
export function samples(seed: number, count: number): { kind: string; value: string; text: string }[] {
  const random = seeded(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T; // lists here are not empty
  const makers: Readonly<Record<string, () => [value: string, text: string]>> = {
    phone: () => {
      const value = digits(one(PHONES), random);
      return [value, one(CALLS).replace("{}", value)];
    },
    card: () => {
      const bare = card(...one(CARDS), random);
      const value = bare.length === 16 ? one([bare, grouped(bare, " "), grouped(bare, "-")]) : bare;
      return [
        value,
        one(["My card {} is lost.", "card: {}", "Pay with {}, please", "cc {} exp 12/27"]).replace(
          "{}",
          value,
        ),
      ];
    },
    ssn: () => {
      const area = String(1 + Math.floor(random() * 664)).padStart(3, "0");
      const value = `${area}-${digits("#", random).replace("0", "1")}${digits("#", random).replace("0", "2")}-1${digits("###", random)}`;
      return [value, one(["His social security number is {}", "SSN: {}.", "({})"]).replace("{}", value)];
    },
    iban: () => {
      const bare = iban(random);
      const value = one([bare, grouped(bare, " ")]);
      return [value, one(["My IBAN is {}", "transfer from {} to me", "IBAN:{};"]).replace("{}", value)];
    },
    ip: () => {
      const part = () => String(Math.floor(random() * 256));
      const group = () => Math.floor(random() * 65536).toString(16);
      const four = `${1 + Math.floor(random() * 222)}.${part()}.${part()}.${part()}`;
      const six = Array.from({ length: 8 }, group).join(":");
      const value = one([four, four, six, `2001:db8::${group()}:${group()}`]);
      return [
        value,
        one(["keep getting address {} blocked", "from {}:", "[{}]:443", "|{}|%20/"]).replace("{}", value),
      ];
    },
    email: () => {
      const value = `${one(PEOPLE)}@${one(DOMAINS)}`;
      return [
        value,
        one(["Write to {}.", "<{}>", "mail={}&x=1", "What's your email? {}"]).replace("{}", value),
      ];
    },
  };
  return Array.from({ length: count }, (_, i) => {
    const kind = one(Object.keys(makers));
    const [value, text] = makers[kind]?.() ?? ["", String(i)];
    return { kind, value, text };
  });
}

function digits(form: string, random: Random): string {
  return form.replaceAll("#", () => String(Math.floor(random() * 10)));
}

function grouped(text: string, gap: string): string {
  return text.replaceAll(/.{4}(?=.)/g, `$&${gap}`);
}

function card(prefix: string, length: number, random: Random): string {
  const start = prefix + digits("#".repeat(length - prefix.length - 1), random);
  let sum = 0;
  for (let i = 0; i < start.length; i++) {
    const digit = Number(start[start.length - 1 - i]);
    sum += i % 2 === 1 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return start + String((10 - (sum % 10)) % 10);
}

function iban(random: Random): string {
  const [country, size] = random() < 0.5 ? ["GB", 18] : ["DE", 18];
  const body =
    country === "GB" ? `WEST${digits("#".repeat(size - 4), random)}` : digits("#".repeat(size), random);
  const plain = [...`${body}${country}00`].map((char) => Number.parseInt(char, 36)).join("");
  return `${country}${String(98n - (BigInt(plain) % 97n)).padStart(2, "0")}${body}`;
}

/** Whether six characters of a value in a row are left in a text that did not hold them elsewhere. */
export function leaks(value: string, before: string, after: string): boolean {
  for (let i = 0; i + 6 <= value.length; i++) {
    const part = value.slice(i, i + 6);
    if (before.indexOf(part) === before.lastIndexOf(part) && after.includes(part)) return true;
  }
  return false;
}
