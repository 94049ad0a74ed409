/** A place in a value: keys of objects, indexes of lists. */
export type Path = readonly (string | number)[];

/** As the API writes it: `rules[0].tools`. A key that would be read otherwise is quoted: `tools["a.b"]`. */
export function pathText(path: Path): string {
  return path
    .map((key, i) => {
      if (typeof key === "number") return `[${key}]`;
      if (!/^[^.[\]"]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return i === 0 ? key : `.${key}`;
    })
    .join("");
}

const PIECE = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[\]]+)/gy;

/** The other way round, so that a problem the API found can stand beside its field. */
export function readPath(text: string): Path {
  if (text === "" || text === "(root)") return [];
  const path: (string | number)[] = [];
  let read = 0;
  for (const [piece, index, quoted, key] of text.matchAll(PIECE)) {
    read += piece.length;
    if (index !== undefined) path.push(Number(index));
    else path.push(quoted === undefined ? (key ?? "") : JSON.parse(quoted));
  }
  return read === text.length ? path : [text]; // of another form: better one unknown place than a wrong one
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}
