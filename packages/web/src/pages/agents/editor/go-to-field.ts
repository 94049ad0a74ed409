/** The nearest thing on the page to a path of the definition: the field itself, or what it stands in. */
export function fieldAt(root: ParentNode, path: string): HTMLElement | undefined {
  const fields = [...root.querySelectorAll<HTMLElement>("[data-field]")];
  let best: HTMLElement | undefined;
  for (const field of fields) {
    const name = field.dataset["field"] ?? "";
    const isIn = path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);
    if (isIn && name.length >= (best?.dataset["field"]?.length ?? 0)) best = field;
  }
  return best;
}

const FOCUSABLE = "input:not([aria-hidden=true]), textarea, [role=switch], [role=radio], button, a[href]";

/** Scrolls to a field and puts the focus into it. */
export function goToField(path: string): boolean {
  const field = fieldAt(document, path);
  if (field === undefined) return false;
  field.scrollIntoView({ block: "center" });
  const control = field.matches("button, input") ? field : field.querySelector<HTMLElement>(FOCUSABLE);
  control?.focus({ preventScroll: true });
  return true;
}
