const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  colon: ":",
  sol: "/",
  bsol: "\\",
  period: ".",
  commat: "@",
  quest: "?",
  num: "#",
  lowbar: "_",
  percnt: "%",
  Tab: "\t",
  NewLine: "\n",
  tab: "\t",
  newline: "\n",
  nbsp: "\u00a0",
  lt: "<",
  gt: ">",
  quot: '"',
};

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z]{2,8}));/g;

/** A link's target as a renderer reads it: character references decoded, escaped punctuation unescaped. */
export function decodeTarget(target: string): string {
  const decoded = target.replaceAll(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
  return decoded;
}

/** `https\://…`: a backslash before punctuation says that it stands for itself. */
export function unescapeTarget(target: string): string {
  return target.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}
