/** Some code points, and what a test of one costs. */
export interface CharSet {
  has(point: number): boolean;
  readonly cost: number;
}

export function onePoint(point: number): CharSet {
  return { has: (other) => other === point, cost: 1 };
}

export function native(expression: RegExp): CharSet {
  return { has: (point) => expression.test(String.fromCodePoint(point)), cost: 4 };
}

export function ranges(spans: readonly (readonly [number, number])[]): CharSet {
  return {
    has: (point) => spans.some(([from, to]) => point >= from && point <= to),
    cost: 1 + spans.length / 8,
  };
}

export function union(sets: readonly CharSet[]): CharSet {
  const cost = sets.reduce((sum, set) => sum + set.cost, 0);
  return { has: (point) => sets.some((set) => set.has(point)), cost };
}

export function not(set: CharSet): CharSet {
  return { has: (point) => !set.has(point), cost: set.cost };
}
