import { useMemo } from "react";
import { KIND_ICONS } from "../canvas/kind-icons.tsx";
import type { Kind } from "../draft/definition.ts";
import { KIND_WORDS } from "../draft/words.ts";
import type { Catalog } from "./catalog.ts";
import { Picker, type PickerItem } from "./picker.tsx";

const KINDS = Object.keys(KIND_WORDS) as Kind[]; // its keys

/** Which node? A kind, or right away an agent, a tool or a workflow by its name. */
export function AddPicker({
  open,
  catalog,
  after,
  onPick,
  onClose,
}: {
  open: boolean;
  catalog: Catalog;
  /** "It comes after check." */
  after?: string;
  onPick(kind: Kind, name?: string): void;
  onClose(): void;
}) {
  const items = useMemo<readonly PickerItem[]>(() => {
    const byName = (kind: Kind, names: readonly { name: string; description?: string }[]) =>
      names.map(({ name, description }) => ({
        value: `${kind}:${name}`,
        label: name,
        hint: description || KIND_WORDS[kind].word,
        icon: KIND_ICONS[kind],
        also: kind,
      }));
    return [
      ...KINDS.map((kind) => ({
        value: kind,
        label: KIND_WORDS[kind].word,
        hint: KIND_WORDS[kind].about,
        icon: KIND_ICONS[kind],
      })),
      ...byName("agent", catalog.agents),
      ...byName("tool", catalog.tools),
      ...byName("workflow", catalog.workflows),
    ];
  }, [catalog]);
  return (
    <Picker
      open={open}
      title="Add a node"
      {...(after !== undefined && { description: after })}
      placeholder="A kind, or the name of an agent, tool or workflow"
      items={items}
      onPick={(value) => {
        const at = value.indexOf(":");
        if (at < 0)
          onPick(value as Kind); // one of KINDS, above
        else onPick(value.slice(0, at) as Kind, value.slice(at + 1));
      }}
      onClose={onClose}
    />
  );
}
