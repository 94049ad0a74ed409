import { Money } from "../../ui/numbers.tsx";

/** A cost that is not known is no zero. */
export function Cost({ value }: { value: number | null }) {
  if (value !== null) return <Money value={value} />;
  return (
    <span title="No price is known for this model" className="text-faint">
      –
    </span>
  );
}
