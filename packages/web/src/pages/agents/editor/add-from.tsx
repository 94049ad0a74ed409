import { Combobox } from "../../../ui/combobox.tsx";
import { useEditor } from "./context.ts";

/** Adds what is chosen from a list, and is empty again. */
export function AddFrom({
  what,
  items,
  onAdd,
}: {
  /** "Add a rail" */
  what: string;
  items: readonly { readonly name: string; readonly description: string }[];
  onAdd(name: string): void;
}) {
  const { readOnly } = useEditor();
  if (readOnly) return null;
  return (
    <Combobox
      mono
      aria-label={what}
      value={undefined}
      onChange={(name) => name !== undefined && onAdd(name)}
      options={items.map(({ name, description }) => ({ value: name, label: name, hint: description }))}
      placeholder={what}
      empty="Nothing of that name is registered."
      className="w-full sm:max-w-96"
    />
  );
}
