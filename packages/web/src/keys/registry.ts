import { type Chord, matches, type Press, parseKeys } from "./chord.ts";

export interface KeyBinding {
  /** "j", "shift+a", "mod+enter", or presses in turn: "g o". */
  keys: string;
  /** What it does, as the help dialog lists it: "Approve this call". */
  what: string;
  run(): void;
  /** Holding the key down repeats it. Off: nobody approves ten calls by leaning on A. */
  repeat?: boolean;
  /** Works while typing as well; only for keys with mod held down, and for Esc. */
  whileTyping?: boolean;
  enabled?: boolean;
}

/** Where a press happened, as far as it decides who gets it. */
export interface PressContext extends Press {
  repeat: boolean;
  /** The focus is where text goes. */
  typing: boolean;
  /** The focus is on something that Enter and Space already mean something to: a button, a link. */
  onControl: boolean;
  /** A dialog or menu is open: the page behind it hears nothing. */
  modal: boolean;
}

interface Group {
  scope: string;
  /** Belongs to what is open over the page. */
  modal: boolean;
  bindings: readonly KeyBinding[];
}

const SEQUENCE_MS = 1500;

/** All keys of what is on the screen now. The group that came last answers first: a page before the shell. */
export class KeyRegistry {
  private groups: Group[] = [];
  private readonly listeners = new Set<() => void>();
  private pressed: { first: Press; at: number } | undefined;
  private shown: readonly Group[] = [];

  add(scope: string, bindings: readonly KeyBinding[], modal = false): () => void {
    for (const { keys } of bindings) parseKeys(keys);
    const group = { scope, bindings, modal };
    this.groups = [...this.groups, group];
    this.changed();
    return () => {
      this.groups = this.groups.filter((other) => other !== group);
      this.changed();
    };
  }

  /** Runs what the press means; says whether anything did. */
  handle(press: PressContext, now: number): boolean {
    const first = this.pressed && now - this.pressed.at < SEQUENCE_MS ? this.pressed.first : undefined;
    this.pressed = undefined;
    const eligible = this.eligible(press);
    const binding = (first && find(eligible, [first, press])) ?? find(eligible, [press]);
    if (binding) {
      binding.run();
      return true;
    }
    const begins = eligible.some(({ chords }) => chords.length === 2 && starts(chords, press));
    if (begins && !press.repeat) this.pressed = { first: press, at: now };
    return begins;
  }

  /** For the help dialog: the page's own keys first, then those that work everywhere. */
  list = (): readonly Group[] => this.shown;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private changed(): void {
    this.shown = this.groups.toReversed();
    for (const listener of this.listeners) listener();
  }

  private eligible(press: PressContext): { chords: Chord[]; binding: KeyBinding }[] {
    return this.groups
      .toReversed()
      .filter((group) => !press.modal || group.modal)
      .flatMap((group) => group.bindings)
      .filter((binding) => binding.enabled !== false)
      .filter((binding) => !press.repeat || binding.repeat)
      .map((binding) => ({ binding, chords: parseKeys(binding.keys) }))
      .filter(({ binding, chords }) => {
        const last = chords.at(-1);
        if (press.typing) return binding.whileTyping === true && (last?.mod || last?.key === "escape");
        return !(press.onControl && !last?.mod && (last?.key === "enter" || last?.key === "space"));
      });
  }
}

function find(
  eligible: { chords: Chord[]; binding: KeyBinding }[],
  presses: Press[],
): KeyBinding | undefined {
  return eligible.find(
    ({ chords }) =>
      chords.length === presses.length &&
      chords.every((chord, at) => {
        const press = presses[at];
        return press !== undefined && matches(chord, press);
      }),
  )?.binding;
}

function starts(chords: Chord[], press: Press): boolean {
  return chords[0] !== undefined && matches(chords[0], press);
}
